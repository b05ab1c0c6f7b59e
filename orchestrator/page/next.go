package page

import (
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
		case b.IsAtWork() && b.Damage == "":
			p.Now = append(p.Now, p.now(v))
			p.decisions(v)
		case v.Look.Tone != "good" && b.State != projection.Queued:
			p.Next = append(p.Next, p.card(v))
		}
		p.warnings(v)
	}
	p.runDecided()
}

// runDecided tells at the end how to run the boards on which a decision waits: one command for all.
func (p *page) runDecided() {
	var all []*projection.Board
	for _, v := range p.Boards {
		if v.runsAfter {
			all = append(all, v.board)
		}
	}
	if len(all) > 0 {
		p.Next = append(p.Next, nextView{
			Look:     look{"ring", "soft", ""},
			Title:    "Then run " + event.Count(len(all), "board") + ", decided or as they are",
			Commands: p.together(all),
		})
	}
}

// together returns the commands that run boards, with the flags of their last runs.
func (p *page) together(boards []*projection.Board) (all []pairView) {
	for _, again := range projection.Commands(boards) {
		all = append(all, pairView{Name: "goes on with " + event.Count(len(again.Boards), "board"), Text: p.text(again.Text()), Code: true})
	}
	return all
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
	return nextView{
		Look:     look{"tri", "warn", ""},
		Title:    fmt.Sprintf("Run %d boards again", len(boards)),
		Text:     strings.Join(why, "; "),
		Commands: p.together(all),
	}
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

// card lays out what a person can do about a board. If there are several boards, one command runs those
// on which a decision waits.
func (p *page) card(v *boardView) nextView {
	c := v.board.Card()
	n := nextView{Look: v.Look, Title: p.text(c.Title), Text: p.because(c), Link: v.link(p.text(c.Task)), Note: p.text(c.Hint)}
	commands := slices.Concat(c.Shows, c.Acts)
	switch {
	case c.Runs.Line == "":
	case len(c.Acts) > 0 && p.isMany:
		v.runsAfter = true
	default:
		commands = append(commands, c.Runs)
	}
	for _, command := range commands {
		if p.isMany && command != c.Runs && command.Line == v.board.CommandLine() { // one command runs them all
			v.runsAfter, n.Note = true, p.text(strings.Trim(c.Hint+"; a run "+command.Does, "; "))
			continue
		}
		n.Commands = append(n.Commands, pairView{Name: p.text(command.Does), Text: p.text(command.Line), Code: true})
	}
	return n
}

// because returns why a person is needed, with the words of the agent that explain it.
func (p *page) because(c projection.Card) string {
	text := c.Why
	if c.Said != nil {
		text += "; " + c.Said.Role + " said: " + c.Said.Said
	}
	return p.line(text)
}

// decisions adds the decision that waits for a person while a run is at work.
func (p *page) decisions(v *boardView) {
	if v.board.About() == "" {
		return
	}
	n := p.card(v)
	n.Look = look{"hold", "hold", ""}
	if v.board.About() == event.AboutConsent {
		n.Look = look{"tri", "warn", ""}
	}
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

// started returns the attempt that is under way, or nil.
func started(b *projection.Board) *projection.Attempt {
	if b.Open == nil || len(b.Steps) == 0 {
		return nil
	}
	if last := b.Steps[len(b.Steps)-1].Last(); last != nil && last.Result == projection.Started {
		return last
	}
	return nil
}

// doing says of a board at work who works on which task, since when, and how long that usually takes; or what
// it waits for.
func (p *page) doing(b *projection.Board) string {
	last := started(b)
	switch {
	case b.Waits != nil:
		return p.text(b.Waits.Text)
	case last == nil:
		return ""
	}
	text := fmt.Sprintf("%s, %s since %s", b.Open.Task, b.Open.CallRole(), clock(last.Began))
	if usual := b.Usual(last); usual != "" {
		text += ", usually " + usual
	}
	return p.text(text)
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
	canTell := false
	if last := started(b); last != nil {
		add("agent", p.text(fmt.Sprintf("%s (%s), %s", b.Open.CallRole(), last.Adapter, kindOf(last))), false)
		canTell = p.tells != nil && p.tells(last.Adapter)
		if p.Live {
			n.Facts = append(n.Facts, p.age(b, last)...)
		}
		if signs := last.Watched; len(signs) > 0 {
			add("watched", p.text(signs[len(signs)-1].Text), false)
		}
	}
	cost := v.Cost
	if v.Limit != "" {
		cost += " of " + v.Limit
	}
	add("cost", cost, false)
	board := failure.Quote(b.Board)
	add("follow", p.text("kanban-run log -f "+board), true)
	if canTell {
		add("say a word", p.text("kanban-run tell "+board+" …"), true)
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
