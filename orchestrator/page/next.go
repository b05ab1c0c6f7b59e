package page

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/standing"
)

// nextView is an action for a person.
type nextView struct {
	Look        look
	Title, Text string
	Link        string // ID of the task in question, or "" if there is no task
	Commands    []pairView
	Note        string
}

// nowView is a board at which an agent works.
type nowView struct {
	Board, ID string
	Facts     []pairView
}

// whatNext sets the page's actions for a person, and its boards at work.
func (p *page) whatNext() {
	for _, v := range p.Boards {
		b := v.board
		switch {
		case b.Damage != "":
			p.Next = append(p.Next, nextView{
				Look:     v.Look,
				Title:    "Look at the journal of " + v.Name,
				Text:     v.Damage,
				Commands: p.commands(b, "check it", "log --verify %s"),
				Note:     "What this page says ends where the damage begins.",
			})
		case b.Owned:
			p.Now = append(p.Now, p.now(v))
			p.decisions(v)
		case v.Look.Tone != "good":
			p.Next = append(p.Next, p.ending(v))
		}
		p.warnings(v)
	}
}

// commands returns commands from pairs of a label and the arguments of kanban-run. In the arguments
// it replaces %s by the board.
func (p *page) commands(b *Board, pairs ...string) (all []pairView) {
	board := failure.Quote(b.Board)
	for i := 0; i+1 < len(pairs); i += 2 {
		command := p.text("kanban-run " + fmt.Sprintf(pairs[i+1], board))
		all = append(all, pairView{Name: pairs[i], Text: command, Code: true})
	}
	return all
}

// link returns the ID of a task's part of the page, or "" if the task is not on the page.
func (v *boardView) link(task string) string {
	for i := range v.Tasks {
		if t := v.Tasks[i]; t.Path == task {
			return t.ID
		}
	}
	return ""
}

// ending returns the next action of a person for a board that is not complete, or complete with a
// remark.
func (p *page) ending(v *boardView) nextView {
	b := v.board
	w := b.State.Choices()
	n := nextView{Look: v.Look, Text: p.text(b.Text)}
	look := []string{"see what happened", "log %s"}
	switch {
	case b.Runs == 0:
		n.Title, n.Commands = "Run "+v.Name, p.commands(b, "run", "%s")
	case b.Outcome == event.Frozen:
		n.Title = "Look at what changed in " + v.Name
		n.Commands = p.commands(b, "see what changed", "ack -n %s", "go on as it stands", "ack %s")
	case b.Outcome == event.NeedsPerson && w.Blocked:
		n.Title = "Decide about the checkpoint that stops " + v.Name
		n.Commands = p.commands(b, append(look,
			"have it looked at anew", "ack %s retry", "go on in spite of it", "ack %s")...)
	case b.Outcome == event.NeedsPerson && w.Quarantined != "":
		n.Title, n.Link = "Decide about "+p.text(w.Quarantined)+" of "+v.Name, v.link(p.text(w.Quarantined))
		n.Commands = p.commands(b, append(look, "once it is mended", "%s", "end the quarantine", "ack %s")...)
	case b.Outcome == event.NeedsPerson && w.GoesOn:
		n.Title, n.Commands = "Look at "+v.Name, p.commands(b, append(look, "go on", "%s")...)
	case w.Undone != "":
		n.Title, n.Link = "Unblock "+p.text(w.Undone)+" of "+v.Name, v.link(p.text(w.Undone))
		n.Commands = p.commands(b, append(look, "do it again", "ack %s retry", "then run", "%s")...)
		n.Note = p.text("Or leave it: " +
			"kanban-run ack " + failure.Quote(b.Board) + " accept ends the board as it stands.")
	case b.Outcome == event.Incomplete:
		n.Title = "Decide about what " + v.Name + " leaves undone"
		n.Commands = p.commands(b, append(look, "do it", "ack %s retry", "then run", "%s")...)
		n.Note = p.text("Or leave it: " +
			"kanban-run ack " + failure.Quote(b.Board) + " accept ends the board as it stands.")
	case b.Outcome == event.NeedsPerson:
		n.Title, n.Commands = "Look at "+v.Name, p.commands(b, append(look, "see what you can decide", "ack %s")...)
	case b.Outcome == event.Exhausted:
		n.Title = "Read the replies that were not accepted in " + v.Name
		n.Commands = p.commands(b, "see them", "log --failed %s", "ask again", "%s")
	case b.Outcome == event.Later:
		n.Title, n.Commands = "Run "+v.Name+" again, once the provider's limit is over", p.commands(b, "run", "%s")
	default:
		n.Title, n.Commands = "Let "+v.Name+" go on", p.commands(b, append(look, "go on", "%s")...)
	}
	for _, t := range slices.Backward(b.Tasks) {
		if b.Outcome == event.NeedsPerson && t.State == standing.NotOK && t.Said != "" && w.Undone == t.Task {
			n.Text += p.text(" " + t.Role + " said: " + t.Said)
			break
		}
	}
	if s := b.Culprit(); s != nil && n.Link == "" {
		n.Link = v.link(p.text(s.Task))
	}
	return n
}

// decisions adds the decisions that wait for a person while a run is at work.
func (p *page) decisions(v *boardView) {
	b, before := v.board, len(p.Next)
	defer func() { p.Decisions += len(p.Next) - before }()
	if step := b.State.Step; step != nil && step.Consent != nil {
		p.Next = append(p.Next, nextView{
			Look:  look{"tri", "warn", ""},
			Title: "Decide about the agent at " + p.text(step.Task) + " of " + v.Name,
			Text:  p.text(step.Consent.Text),
			Link:  v.link(p.text(step.Task)),
			Commands: p.commands(b,
				"end it, and start it again", "ack %s restart", "leave it alone", "ack %s continue"),
		})
	}
	for _, q := range b.State.Quarantine {
		p.Next = append(p.Next, nextView{
			Look:     look{"hold", "hold", ""},
			Title:    "Decide about " + p.text(q.Task) + " of " + v.Name,
			Text:     p.text(q.Text),
			Link:     v.link(p.text(q.Task)),
			Commands: p.commands(b, "let it be named again", "ack %s release"),
			Note:     "The board goes on without it.",
		})
	}
}

// warnings adds the last checkpoint if its verdict is warn. A person should read it, but need not
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
	if step := b.State.Step; step != nil && len(b.Steps) > 0 {
		add("task", p.text(step.Task), false)
		if last := b.Steps[len(b.Steps)-1].Last(); last != nil && last.Result == digest.Pending {
			add("agent", p.text(fmt.Sprintf("%s (%s), %s", step.CallRole(), last.Adapter, kindOf(last))), false)
			add("since", clock(last.Began), false)
			n.Facts = append(n.Facts, pairView{
				Name:  "for",
				Text:  event.Took(p.asOf.Sub(last.Began).Milliseconds()),
				Since: last.Began.UnixMilli(),
			})
			add("does", p.text(b.Agent), false)
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
	for _, c := range p.commands(b, "follow", "log -f %s", "say a word", "tell %s …") {
		add(c.Name, c.Text, true)
	}
	return n
}
