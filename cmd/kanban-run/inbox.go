package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/standing"
)

func inboxCommand() command {
	return command{
		name: "inbox", args: "[BOARD...]", summary: "what waits for your decision", many: always,
		long: `
For each board that waits, or cannot be run: why, and the commands that decide. Without a board it looks at all below this folder.
Exit code 3 says that something waits, 0 that nothing does.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("inbox", args, false); err != nil {
					return 0, err
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				if len(args) == 1 {
					waits, err := t.showInbox(args[0])
					return codeOfWaiting(waits), err
				}
				return t.showInboxes(args)
			}
		},
	}
}

// showInboxes prints the decision that each board waits for, and the boards that cannot be read. It
// leaves out the boards that wait for nothing.
func (t *terminal) showInboxes(boards []string) (code int, err error) {
	code = exitComplete
	for _, board := range boards {
		b, _ := inspect.Look(board, func(event.Entry) {}) // the standing holds the error
		if !needsPerson(&b.Standing) {
			continue
		}
		code = exitNeedsPerson
		if err := errors.Join(t.stdout.PrintTrusted(t.sign(b.Weight)+" "), t.printDecisions(&b)); err != nil {
			return 0, err
		}
	}
	if code == exitComplete {
		return code, t.stdout.Printf("none of %d boards waits for a decision\n", len(boards))
	}
	return code, nil
}

// showInbox prints the decision that a board waits for. It returns true if a person has to decide
// about the board or has to mend it.
func (t *terminal) showInbox(board string) (waits bool, err error) {
	b, err := inspect.Look(board, func(event.Entry) {})
	if errors.As(err, new(*ledger.NoRunError)) {
		err = nil
	}
	if err != nil && !errors.As(err, new(*ledger.UnreadableError)) {
		return false, err
	}
	return needsPerson(&b.Standing), errors.Join(t.printDecisions(&b), err)
}

// needsPerson reports whether a person has to decide about the board or has to mend it.
func needsPerson(s *standing.Standing) bool {
	return s.Who() == standing.Decide || s.Who() == standing.Mend
}

// printDecisions prints what a board waits for. It adds escalated tasks of the run at work, and the
// proposal to give a task to another agent.
func (t *terminal) printDecisions(b *inspect.Board) error {
	if err := t.printWaits(&b.Standing); err != nil {
		return err
	}
	for _, task := range b.History.State.NotDone() {
		if b.Owned && task.Status == "escalate" {
			if err := t.stdout.Printf("%s: %s was escalated; the Manager was told\n", b.Board, task.Task); err != nil {
				return err
			}
		}
	}
	if p := b.Proposal; p != nil && b.Waits != nil {
		return t.printWrapped("  ", fmt.Sprintf("REASSIGN_PROPOSAL for %s: give %s to another agent than %s "+
			"(%s): reassign: {%s: [ADAPTER or ROLE]} in .kanban-run.yaml does", b.Board, p.Task, p.Role, p.Strategy, p.Role))
	}
	return nil
}

// printWaits prints what a board waits for, and the commands that decide, for a person to copy.
func (t *terminal) printWaits(s *standing.Standing) error {
	w := s.Waits
	switch {
	case w == nil && s.Outcome == standing.Running:
		return t.stdout.Printf("%s is at work, and waits for no decision\n", s.Board)
	case w == nil && needsPerson(s):
		return errors.Join(t.printWrapped("", s.Headline()), t.printWrapped("  ", s.Advice("")))
	case w == nil:
		return t.stdout.Printf("%s waits for no decision\n", s.Board)
	}
	lead := "waits for your decision"
	if w.May {
		lead = "goes on without your decision"
	}
	if err := t.printWrapped("", fmt.Sprintf("%s %s: %s", s.Board, lead, w.Why)); err != nil {
		return err
	}
	if said := s.Said(); said != nil && !strings.Contains(w.Why, said.Said) {
		if err := t.printWrapped("  ", said.Role+" said: "+event.Brief(said.Said)); err != nil {
			return err
		}
	}
	commands, does := report.Commands(s)
	for i, c := range commands {
		if err := t.printWrapped("  "+c, does[i]); err != nil {
			return err
		}
	}
	if len(commands) == 0 {
		return t.printWrapped("  ", s.Advice(""))
	}
	return nil
}

// printWrapped prints a head, and a text to its right. On a terminal it breaks the text between
// words, and indents the further lines to the column where the text begins. If the head leaves no
// room, the text begins on a new line, and all its lines are indented by four columns.
func (t *terminal) printWrapped(head, text string) error {
	head, text = t.stdout.Sprintf("%s", head), t.stdout.Sprintf("%s", text)
	if !term.IsTerminal(int(t.screen.Fd())) {
		return t.stdout.PrintTrusted(head + text + "\n")
	}
	width, _ := sizeOf(t.screen)
	indent := max(4, runewidth.StringWidth(head))
	if width-indent < leastText {
		head, indent = strings.TrimRight(head, " ")+"\n    ", 4
	}
	lines := report.Wrap(text, width-indent)
	return t.stdout.PrintTrusted(head + strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n")
}

// leastText is the width in columns that a text needs beside its head.
const leastText = 30

// post leaves a message in the inbox of the board's run, and waits for the run's answer unless
// the duration wait is 0.
func (t *terminal) post(board string, m inbox.Message, wait time.Duration) error {
	dir, err := inspect.Locate(board)
	if err != nil {
		return err
	}
	step, err := stepAtWork(board)
	if err != nil {
		return err
	}
	if err := refuseAgents(false); err != nil {
		return err
	}
	m.ID, m.Step = agent.NewMessageID(), step.Number
	if err := dir.MakeInbox(); err != nil {
		return err
	}
	if err := inbox.Post(dir.Inbox(), m); err != nil {
		return fmt.Errorf("leave the message: %w", err)
	}
	if wait == 0 {
		return t.stdout.Printf("left for the run of %s; kanban-run log -f %s tells\n", board, failure.Quote(board))
	}
	return t.awaitMessage(board, dir, m, wait)
}

// stepAtWork returns the step whose agent is at work. Errors: *undeliveredError if no agent is at
// work.
func stepAtWork(board string) (*flow.Step, error) {
	owned, err := inspect.IsOwned(board)
	if err != nil {
		return nil, err
	}
	h, _, err := inspect.History(board, func(event.Entry) error { return nil })
	switch {
	case err != nil:
		return nil, err
	case !owned:
		return nil, &undeliveredError{"no run of " + board + " is at work",
			"write it into the task file, which the next agent reads"}
	case h.State.Step == nil || h.State.Step.Running == 0:
		return nil, &undeliveredError{"no agent is at work in this moment", "try again; as long as none is, a mark in the header of a task counts"}
	default:
		return h.State.Step, nil
	}
}

// awaitMessage prints the run's answer to a message. If the run does not read the message within
// the duration wait, or ends without reading it, awaitMessage withdraws the message. Errors:
// *undeliveredError.
func (t *terminal) awaitMessage(board string, dir rundir.Dir, m inbox.Message, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(pollInterval / 3) {
		owned, err := inspect.IsOwned(board)
		if err != nil {
			return err
		}
		var last event.Event // last event about the message
		hidden := ""         // remark if a secret was taken out of the text, otherwise ""
		_, _, err = inspect.History(board, func(e event.Entry) error {
			if event.MessageID(e.Event) == m.ID {
				last = e.Event
			}
			if sent, ok := e.Event.(event.MessageSent); ok && sent.ID == m.ID && sent.Content.Text != m.Text {
				hidden = "\na secret was taken out of the text: the agent reads [REDACTED_SECRET] in its place"
			}
			return nil
		})
		if err != nil {
			return err
		}
		late := time.Now().After(end)
		switch e := last.(type) {
		case event.MessageLost:
			return &undeliveredError{e.Reason, ""}
		case event.QuarantineEnded:
			return t.stdout.Printf("%s leaves quarantine: %s\n", e.Task, e.Reason)
		case event.ConsentGiven:
			return t.stdout.Printf("%s (%s, step %d)\n", e.Answer(), e.Task, e.Step)
		case event.MessageHeard:
			return t.stdout.Printf("%s has it (%s, step %d)%s\n", e.AttemptRef.Player(), e.Task, e.Step, console.Lines(hidden))
		case event.MessageSent:
			if late {
				return t.stdout.Printf("sent to %s (%s, step %d), which gets it when its open call has "+
					"ended; kanban-run log -f %s tells%s\n",
					e.AttemptRef.Player(), e.Task, e.Step, failure.Quote(board), console.Lines(hidden))
			}
		case nil:
			if (late || !owned) && inbox.Withdraw(dir.Inbox(), m.ID) {
				return &undeliveredError{"the run did not take it",
					"look at it with kanban-run status " + failure.Quote(board)}
			}
		default: // the decision about a task
			return t.stdout.Printf("%s\n", e.Sentence().Text)
		}
		switch {
		case !owned:
			return &undeliveredError{"the run has ended", ""}
		case late:
			return &undeliveredError{"the run does not say what became of it",
				"look at it with kanban-run log " + failure.Quote(board)}
		}
	}
}

// undeliveredError holds the reason why a message did not reach an agent or its run.
type undeliveredError struct{ why, hint string }

func (e *undeliveredError) Error() string { return "not told: " + e.why }

// Hint returns the hint line that the method explain prints.
func (e *undeliveredError) Hint() string { return e.hint }
