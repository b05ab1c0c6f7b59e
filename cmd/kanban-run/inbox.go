package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/rundir"
)

func inboxCommand() command {
	return command{
		name: "inbox", args: "[BOARD...]", summary: "what waits for your decision", many: always,
		long: `
For each board that waits, or cannot be run: why, and the commands that decide. Without a board it looks at all below
this folder. Exit code 3 says that something waits, 0 that nothing does.`,
		examples: `
  kanban-run inbox               all boards below this folder
  kanban-run inbox kanban.yaml   one board`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			asJSON := flags.Bool("json", false, "print the boards that wait as JSON")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("inbox", args, false); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				boards, err := lookAt(u.looker(keepLast), args)
				dirs := workdirs(u.dir, boards)
				if *asJSON {
					return t.printInboxJSON(boards, dirs, err)
				}
				if !isShown(err) {
					return 0, err
				}
				isAsked := len(askedIn(dirs)) > 0
				code, failed := t.printInbox(boards, isAsked)
				if isAsked {
					code, failed = exitNeedsPerson, errors.Join(failed, t.printAsked(t.stdout, dirs))
				}
				return code, errors.Join(failed, err)
			}
		},
	}
}

// waiting returns the boards about which a person has to decide, or that a person has to mend.
func waiting(boards []*projection.Board) []*projection.Board {
	return slices.DeleteFunc(slices.Clone(boards), func(b *projection.Board) bool { return !b.Who.AsksPerson() })
}

func (t *terminal) printInboxJSON(boards []*projection.Board, dirs []string, err error) (int, error) {
	all := waiting(boards)
	return codeOfWaiting(len(all)+len(askedIn(dirs)) > 0), errors.Join(t.printJSON(withoutSteps(all), dirs), err)
}

// printInbox prints what boards wait for, and returns exit code 3 if one waits. A board that waits for
// nothing is left out, unless it is the only one. If isAsked is true, printAsked follows, with the command
// for all boards that wait for nothing else.
func (t *terminal) printInbox(boards []*projection.Board, isAsked bool) (code int, err error) {
	ask := func(b *projection.Board) error {
		if isAsked && b.WaitsHere() {
			return t.printWrapped("", b.Asks())
		}
		return t.printQuestion(b)
	}
	all := waiting(boards)
	switch {
	case len(boards) == 1 && len(all) == 0:
		return exitComplete, errors.Join(t.printWrapped("", boards[0].Asks()), t.printEscalated(boards[0]))
	case len(boards) == 1:
		return exitNeedsPerson, ask(boards[0])
	case len(all) == 0:
		return exitComplete, t.stdout.Printf("none of %d boards waits for a decision\n", len(boards))
	}
	for _, b := range all {
		if err := errors.Join(t.stdout.PrintTrusted(t.sign(b.Weight)+" "), ask(b)); err != nil {
			return 0, err
		}
	}
	return exitNeedsPerson, nil
}

// printQuestion prints what a board waits for, and the commands that decide, for a person to copy. It
// adds escalated tasks, and the last proposals to the Lead.
func (t *terminal) printQuestion(b *projection.Board) error {
	errs := []error{t.printWrapped("", b.Asks())}
	if said := b.Unquoted(); said != nil {
		errs = append(errs, t.printWrapped("  ", said.Role+" said: "+event.Brief(said.Said)))
	}
	for _, c := range report.Commands(b) {
		errs = append(errs, t.printWrapped("  "+c[0], c[1]))
	}
	errs = append(errs, t.printEscalated(b))
	if !b.Who.AsksPerson() {
		return errors.Join(errs...)
	}
	for _, p := range b.Proposals {
		text := fmt.Sprintf("proposed for %s: %s", b.Board, p.Text)
		if p.Evidence != "" && b.About() != event.AboutStep { // which is what the evidence says
			text += " (" + event.Brief(p.Evidence) + ")"
		}
		errs = append(errs, t.printWrapped("  ", text))
	}
	return errors.Join(errs...)
}

// printEscalated tells of tasks that a run at work has handed to its Manager.
func (t *terminal) printEscalated(b *projection.Board) error {
	for _, task := range b.Tasks {
		if b.IsAtWork() && task.Status == "escalate" && !task.State.IsDone() {
			if err := t.stdout.Printf("%s: %s was escalated; the Manager was told\n", b.Board, task.Task); err != nil {
				return err
			}
		}
	}
	return nil
}

// printWrapped prints a head, and a text to its right that breaks between words.
func (t *terminal) printWrapped(head, text string) error {
	return t.printLines(t.screenOf().Wrapped(head, text))
}

// post leaves a message in the inbox of the board's run, and waits for the run's answer unless
// the duration wait is 0.
func (t *terminal) post(board string, m inbox.Message, wait time.Duration) error {
	dir, err := inspect.Locate(board)
	if err != nil {
		return err
	}
	b, _ := inspect.Looker{Keep: keepLast}.Look(board) // an error shows below, too
	queued := b.State == projection.Queued
	if queued {
		m.Step, err = firstStep(&b, m)
	} else {
		m.Step, err = stepAtWork(board)
	}
	if err != nil {
		return err
	}
	if err := refuseAgents(false); err != nil {
		return err
	}
	m.ID = agent.NewMessageID()
	if err := dir.MakeInbox(); err != nil {
		return err
	}
	if err := inbox.Post(dir.Inbox(), m); err != nil {
		return fmt.Errorf("leave the message: %w", err)
	}
	switch {
	case queued:
		return t.stdout.Printf("%s is queued: it counts when the run that has it begins on it; kanban-run log -f %s tells\n", board, failure.Quote(board))
	case wait == 0:
		return t.stdout.Printf("left for the run of %s; kanban-run log -f %s tells\n", board, failure.Quote(board))
	}
	return t.awaitMessage(board, dir, m, wait)
}

// firstStep returns the step with which the run of a queued board begins. Errors: *queuedError if the
// message decides about the task of that step.
func firstStep(b *inspect.Board, m inbox.Message) (int, error) {
	for _, t := range b.Tasks {
		if begins := t.State == projection.NextUp || t.State == projection.StoppedAt; begins && path.Clean(t.Task) == path.Clean(m.Task) {
			return 0, &queuedError{"the run that has " + b.Board.Board + " begins with " + t.Task,
				"end that run first, or decide about another task"}
		}
	}
	if step := b.History.State.Step; step != nil {
		return step.Number, nil
	}
	return b.History.State.LastStep + 1, nil
}

// stepAtWork returns the step whose agent is at work. Errors: *undeliveredError if no agent is at
// work.
func stepAtWork(board string) (int, error) {
	owned, err := inspect.IsOwned(board)
	if err != nil {
		return 0, err
	}
	h, _, err := inspect.History(board, func(event.Entry) error { return nil })
	switch {
	case err != nil:
		return 0, err
	case !owned:
		return 0, &undeliveredError{"no run of " + board + " is at work",
			"write it into the task file, which the next agent reads"}
	case h.State.Step == nil || h.State.Step.Running == 0:
		return 0, &undeliveredError{"no agent is at work in this moment", "try again; as long as none is, a mark in the header of a task counts"}
	default:
		return h.State.Step.Number, nil
	}
}

// awaitMessage prints the run's answer to a message. If the run does not read the message within
// the duration wait, or ends without reading it, awaitMessage withdraws the message. Errors:
// *undeliveredError.
func (t *terminal) awaitMessage(board string, dir rundir.Dir, m inbox.Message, wait time.Duration) error {
	journal := inspect.Looker{}.Reader(board)
	var last event.Event // last event about the message
	hidden := ""         // remark if a secret was taken out of the text, otherwise ""
	for end := time.Now().Add(wait); ; time.Sleep(pollInterval / 3) {
		owned, err := inspect.IsOwned(board)
		if err != nil {
			return err
		}
		_, _, err = journal.History(func(e event.Entry) error {
			if event.MessageID(e.Event) == m.ID {
				last = e.Event
			}
			if sent, ok := e.Event.(event.MessageSent); ok && sent.ID == m.ID && sent.Hidden {
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

// queuedError holds the reason why a decision about a board cannot count before the run begins that has it.
type queuedError struct{ why, hint string }

func (e *queuedError) Error() string { return e.why }

// Hint returns the hint line that the method explain prints.
func (e *queuedError) Hint() string { return e.hint }

// Unwrap returns the reason: a run has the lock of the board.
func (*queuedError) Unwrap() error { return &durable.HeldError{} }

// undeliveredError holds the reason why a message did not reach an agent or its run.
type undeliveredError struct{ why, hint string }

func (e *undeliveredError) Error() string { return "not told: " + e.why }

// Hint returns the hint line that the method explain prints.
func (e *undeliveredError) Hint() string { return e.hint }
