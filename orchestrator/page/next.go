package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
)

// nextView is an action for a person.
type nextView struct {
	Look        look
	Title, Text string
	Link        string // ID of the task in question, or "" if there is no task
	Commands    []pairView
	Note        string
}

// nowView is the display of a board at work.
type nowView struct {
	Board, ID string
	Facts     []pairView
}

// whatNext sets the actions for a person and the list of boards at work.
func (p *page) whatNext() {
	again := p.toRunAgain()
	for _, v := range p.Boards {
		b := v.board
		switch {
		case slices.Contains(again, v):
			if v == again[0] { // one action for all of them
				p.Next = append(p.Next, p.runAgain(again))
			}
		case b.Damage != "":
			p.Next = append(p.Next, nextView{
				Look:     v.Look,
				Title:    "Look at the journal of " + v.Name,
				Text:     v.Damage,
				Commands: p.commands(b, "check it", "log --verify %s"),
				Note:     "What this page says ends where the damage begins.",
			})
		case b.IsAtWork():
			p.Now = append(p.Now, p.now(v))
			p.decisions(v)
		case v.Look.Tone != "good":
			p.Next = append(p.Next, p.ending(v))
		}
		p.warnings(v)
	}
	p.runDecided()
}

// runDecided tells at the end how to run the boards on which a decision waits: one command for all.
func (p *page) runDecided() {
	var names []string
	for _, v := range p.Boards {
		if v.runsAfter {
			names = append(names, failure.Quote(v.board.Board))
		}
	}
	if len(names) == 0 {
		return
	}
	p.Next = append(p.Next, nextView{
		Look:     look{"ring", "soft", ""},
		Title:    "Then run " + event.Count(len(names), "board") + " on which you decided",
		Commands: []pairView{{Text: p.text("kanban-run " + strings.Join(names, " ")), Code: true}},
	})
}

// toRunAgain returns the boards that only have to be run again, or nil if there are fewer than two.
func (p *page) toRunAgain() (boards []*boardView) {
	for _, v := range p.Boards {
		if v.board.Who == projection.RunAgain && v.board.Outcome != event.Later && v.board.Damage == "" {
			boards = append(boards, v)
		}
	}
	if len(boards) < 2 {
		return nil
	}
	return boards
}

// runAgain returns a single action that runs several boards again.
func (p *page) runAgain(boards []*boardView) nextView {
	var why []string
	var all []*projection.Board
	for _, v := range boards {
		all = append(all, v.board)
		why = append(why, v.Name+": "+strings.TrimSpace(v.Look.Word+" "+v.Ended))
	}
	n := nextView{
		Look:  look{"tri", "warn", ""},
		Title: fmt.Sprintf("Run %d boards again", len(boards)),
		Text:  strings.Join(why, "; "),
	}
	for _, again := range projection.CommandsAgain(all) { // with the flags of the last run
		n.Commands = append(n.Commands, pairView{Name: "goes on with " + event.Count(len(again.Boards), "board"), Text: p.text(again.Text()), Code: true})
	}
	return n
}

// commands returns a command for each pair of a label and the arguments of kanban-run. In the
// arguments, %s stands for the board.
func (p *page) commands(b *projection.Board, pairs ...string) (all []pairView) {
	board := failure.Quote(b.Board)
	for i := 0; i+1 < len(pairs); i += 2 {
		command := p.text("kanban-run " + fmt.Sprintf(pairs[i+1], board))
		all = append(all, pairView{Name: pairs[i], Text: command, Code: true})
	}
	return all
}

// link returns the ID of the page's part about a task, or "" if the task is not on the page.
func (v *boardView) link(task string) string {
	for i := range v.Tasks {
		if t := v.Tasks[i]; t.Path == task {
			return t.ID
		}
	}
	return ""
}

// ending returns the next action of a person for a board that is not complete, or that is complete
// with a remark.
func (p *page) ending(v *boardView) nextView {
	b := v.board
	n := nextView{Look: v.Look, Text: p.line(b.Reason.Said)}
	if s := b.Culprit(); s != nil {
		n.Link = v.link(p.text(s.Task))
	}
	switch {
	case len(b.Choices) > 0 || b.About() != "":
		p.decide(v, &n)
	case b.Outcome == event.Invalid, b.Who == projection.Mend && b.Runs == 0:
		n.Title, n.Commands = "Mend "+v.Name, p.commands(b, "see what is wrong", "check %s", "then run", "%s")
	case b.Runs == 0:
		n.Title, n.Commands = "Run "+v.Name, p.commands(b, "run", "%s")
	case b.Outcome == event.Later:
		n.Title, n.Commands = "Run "+v.Name+" again, once the provider's limit is over", p.commands(b, "run", "%s")
	case b.Outcome == event.Complete && !b.IsSettled():
		n.Title, n.Commands = "Look at "+v.Name, p.commands(b, "see what happened", "log %s")
	default:
		n.Title, n.Commands = "Let "+v.Name+" go on", p.commands(b, "go on", "%s")
	}
	if t := b.Unquoted(); t != nil {
		n.Text += p.line("; " + t.Role + " said: " + t.Said)
	}
	return n
}

// decide sets the title, the link and the commands of a decision that a board waits for. What the page
// itself shows, behind the link, needs no command.
func (p *page) decide(v *boardView, n *nextView) {
	b, about := v.board, v.board.About()
	task := b.Reason.Where
	if len(b.Choices) > 0 {
		task = cmp.Or(b.Choices[0].Task, task)
	}
	n.Text, n.Link = p.line(b.Why()), cmp.Or(v.link(p.text(task)), n.Link)
	title := cmp.Or(titles[about], "Look at BOARD")
	switch {
	case b.Outcome == event.Exhausted:
		title = "Read the replies that were not accepted in BOARD"
	case about == event.AboutEnd && task == "":
		title = "Decide about what BOARD leaves undone"
	}
	n.Title = strings.NewReplacer("BOARD", v.Name, "TASK", p.text(task)).Replace(title)
	switch {
	case about == event.AboutFile || about == event.AboutJournal:
		n.Commands = p.commands(b, "see what changed", "ack -n %s")
	case n.Link == "":
		n.Commands = p.commands(b, "see what happened", "log %s")
	}
	n.Commands = append(n.Commands, p.choices(b)...)
	switch {
	case b.IsAtWork() || len(b.Choices) == 0 || about == event.AboutTeam:
	case p.isMany:
		v.runsAfter = true
	default:
		n.Commands = append(n.Commands, p.commands(b, "then run", "%s")...)
	}
}

// titles has the title of each kind of decision. BOARD and TASK stand for names.
var titles = map[event.Subject]string{
	event.AboutConsent:    "Decide about the agent at TASK of BOARD",
	event.AboutChanged:    "Look at what an agent changed for BOARD",
	event.AboutWay:        "Decide where the checkpoints of BOARD go",
	event.AboutFile:       "Look at what changed in BOARD",
	event.AboutJournal:    "Look at what changed in BOARD",
	event.AboutCheckpoint: "Decide about the checkpoint that stops BOARD",
	event.AboutQuarantine: "Decide about TASK of BOARD",
	event.AboutTeam:       "Decide about the team of BOARD",
	event.AboutEnd:        "Unblock TASK of BOARD",
}

// choices returns a command for each choice that a person has. Of its effect the first sentence is
// shown; what it does with the path of another task, ack tells.
func (p *page) choices(b *projection.Board) (all []pairView) {
	for _, c := range b.Choices {
		does, _, _ := strings.Cut(c.Does, ". ")
		all = append(all, pairView{Name: p.text(does), Text: p.text(c.Command), Code: true})
	}
	return all
}

// decisions adds the decision that waits for a person while a run is at work.
func (p *page) decisions(v *boardView) {
	if v.board.About() == "" {
		return
	}
	n := nextView{Look: look{"hold", "hold", ""}}
	if v.board.About() == event.AboutConsent {
		n.Look = look{"tri", "warn", ""}
	}
	p.decide(v, &n)
	p.Next = append(p.Next, n)
	p.Decisions++
}

// warnings adds the last checkpoint if its verdict is "warn". A person should read it, but need not
// answer.
func (p *page) warnings(v *boardView) {
	all := v.board.Checkpoints
	if len(all) == 0 {
		return
	}
	if c := all[len(all)-1]; c.Verdict == "warn" {
		n := nextView{
			Look:  look{"tri", "warn", ""},
			Title: "Read " + p.text(c.ID) + " of " + v.Name,
			Text:  p.text(c.String()),
		}
		if len(c.Findings) > 0 {
			n.Text += ": " + p.text(c.Findings[0])
		}
		n.Note = "No answer is needed."
		p.Next = append(p.Next, n)
	}
}

// now returns the facts about a board at work, from its journal and from Board.Agent.
func (p *page) now(v *boardView) nowView {
	b := v.board
	n := nowView{Board: v.Name, ID: v.ID}
	add := func(name, text string, code bool) {
		if text != "" {
			n.Facts = append(n.Facts, pairView{Name: name, Text: text, Code: code})
		}
	}
	if b.Waits != nil {
		add("waits", p.text(b.Waits.Text), false)
	}
	canTell := false
	if step := b.Open; step != nil && len(b.Steps) > 0 {
		add("task", p.text(step.Task), false)
		if last := b.Steps[len(b.Steps)-1].Last(); last != nil && last.Result == projection.Started {
			add("agent", p.text(fmt.Sprintf("%s (%s), %s", step.CallRole(), last.Adapter, kindOf(last))), false)
			canTell = p.tells != nil && p.tells(last.Adapter)
			add("since", clock(last.Began), false)
			if p.Live {
				n.Facts = append(n.Facts, p.age(b, last)...)
			}
			if signs := last.Watched; len(signs) > 0 {
				add("watched", p.text(signs[len(signs)-1].Text), false)
			}
		}
	}
	cost := v.Cost
	if v.Limit != "" {
		cost += " of " + v.Limit
	}
	add("cost", cost, false)
	commands := []string{"follow", "log -f %s"}
	if canTell {
		commands = append(commands, "say a word", "tell %s …")
	}
	for _, c := range p.commands(b, commands...) {
		add(c.Name, c.Text, true)
	}
	return n
}

// age returns how long an attempt has been at work, and what its agent does. Only a live page knows:
// the last record of a journal may be old.
func (p *page) age(b *projection.Board, a *projection.Attempt) []pairView {
	now := time.Now()
	all := []pairView{{Name: "for", Text: event.Elapsed(now.Sub(a.Began)), Since: a.Began.UnixMilli()}}
	if b.Agent != nil {
		all = append(all, pairView{Name: "does", Text: p.text(report.DescribeLive(*b.Agent, now))})
	}
	return all
}
