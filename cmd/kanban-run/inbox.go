package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/rundir"
)

func inboxCommand() command {
	return command{
		name: "inbox", args: "BOARD...", summary: "what waits for your decision",
		long: `
Exit code 3 says that something waits, 0 that nothing does. kanban-run ack decides it.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			return func(t *terminal, args []string) (int, error) {
				if len(args) == 0 {
					return 0, &usageError{text: "inbox: a board is needed", hint: "kanban-run inbox kanban.yaml"}
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				code := exitComplete
				for _, board := range args {
					waits, err := t.showInbox(board)
					if err != nil {
						return 0, err
					}
					if waits {
						code = exitNeedsPerson
					}
				}
				return code, nil
			}
		},
	}
}

// showInbox prints the decisions that a board waits for. waits reports whether a decision waits; it
// is false if the next run goes on without the decision.
func (t *terminal) showInbox(board string) (waits bool, err error) {
	owned, err := inspect.IsOwned(board)
	if err != nil {
		return false, err
	}
	if owned {
		return t.showWaiting(board)
	}
	dir, err := inspect.Locate(board)
	if err != nil {
		return false, err
	}
	answer := ledger.Answer{Ask: true}
	q, err := ledger.Acknowledge(board, dir, answer, t.redactor(), time.Now)
	var never *ledger.NoRunError
	switch {
	case errors.As(err, &never):
		return false, printDecision(t, board, ledger.Question{}, answer)
	case err != nil:
		return false, err
	case q.Open:
		return true, printChoice(t, board, q)
	default:
		err = printDecision(t, board, q, answer)
		if p := q.Proposal; p != nil {
			err = errors.Join(err, t.stdout.Printf("  REASSIGN_PROPOSAL: give %s to another agent than %s "+
				"(%s): reassign: {%s: [ADAPTER or ROLE]} in .kanban-run.yaml does; %s\n", p.Task, p.Role,
				p.Strategy, p.Role, p.Evidence))
		}
		return q.Text != "" && !q.GoesOn, err
	}
}

// showWaiting prints the decisions that the run at work waits for.
func (t *terminal) showWaiting(board string) (waits bool, err error) {
	h, _, err := inspect.History(board, func(event.Entry) error { return nil })
	if err != nil {
		return false, err
	}
	var errs []error
	show := func(format string, args ...any) {
		waits = true
		errs = append(errs, t.stdout.Printf(format, args...))
	}
	name := failure.Quote(board)
	if step := h.State.Step; step != nil && step.Consent != nil {
		does := "ends the agent, and starts it again"
		if step.Consent.Decision == event.Replan {
			does = "ends the agent, and has the Manager plan anew"
		}
		show(`%s waits for your decision about %s (%s, step %d): %s
  kanban-run ack %s restart   %s
  kanban-run ack %s continue  leaves the agent alone
`, board, step.CallRole(), step.Task, step.Number, step.Consent.Text, name, does, name)
	}
	for _, q := range h.State.Quarantine {
		show("%s goes on without %s, which is in quarantine: %s\n", board, q.Task, q.Text)
	}
	for _, task := range h.State.NotOK() {
		if task.Status == "escalate" {
			errs = append(errs, t.stdout.Printf("%s: %s was escalated; the Manager was told\n", board, task.Task))
		}
	}
	if len(h.State.Quarantine) > 0 {
		show("  kanban-run ack %s release   lets the Manager name it again\n", name)
	}
	if !waits {
		errs = append(errs, t.stdout.Printf("%s is at work, and waits for no decision\n", board))
		return false, errors.Join(errs...)
	}
	return true, errors.Join(errs...)
}

// post leaves a message in the inbox of the board's run, and waits for the run's answer unless wait
// is 0.
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
		return nil, &undeliveredError{"no agent is at work in this moment", "try again"}
	default:
		return h.State.Step, nil
	}
}

// awaitMessage prints the run's answer to a message. If the run has not read the message after
// wait, or has ended without reading it, awaitMessage withdraws the message. Errors:
// *undeliveredError.
func (t *terminal) awaitMessage(board string, dir rundir.Dir, m inbox.Message, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(pollInterval / 3) {
		owned, err := inspect.IsOwned(board)
		if err != nil {
			return err
		}
		var last event.Event // about the message
		_, _, err = inspect.History(board, func(e event.Entry) error {
			if event.MessageID(e.Event) == m.ID {
				last = e.Event
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
			return t.stdout.Printf("%s has it (%s, step %d)\n", e.AttemptRef.Player(), e.Task, e.Step)
		case event.MessageSent:
			if late {
				return t.stdout.Printf("sent to %s (%s, step %d), which gets it when its open call has "+
					"ended; kanban-run log -f %s tells\n",
					e.AttemptRef.Player(), e.Task, e.Step, failure.Quote(board))
			}
		default:
			if (late || !owned) && inbox.Withdraw(dir.Inbox(), m.ID) {
				return &undeliveredError{"the run did not take it",
					"look at it with kanban-run status " + failure.Quote(board)}
			}
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

// undeliveredError is the reason why a message did not reach an agent or its run.
type undeliveredError struct{ why, hint string }

func (e *undeliveredError) Error() string { return "not told: " + e.why }

// Hint returns the hint line that explain prints.
func (e *undeliveredError) Hint() string { return e.hint }
