package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/rundir"
)

func tellCommand() command {
	return command{
		name: "tell", args: "BOARD TEXT...", summary: "say something to the agent that works on a board now",
		long: `
The agent gets the text with its next step, when the call of a tool that is open has ended, and goes on with its task. Only
claude can be told something while it works; of any other agent tell says so and ends with 1. The text and what became of it
stand in the journal.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			wait := flags.Duration("wait", 10*time.Second, "wait so long for the agent to get it")
			return func(t *terminal, args []string) (int, error) {
				text := strings.TrimSpace(strings.Join(args[min(1, len(args)):], " "))
				if len(args) < 2 || text == "" {
					return 0, &usageError{text: "tell: a board and a text are needed", hint: `kanban-run tell kanban.yaml "The tests need a database: start it with make db"`}
				}
				if len(text) > inbox.MaxText {
					return 0, &usageError{text: fmt.Sprintf("tell: the text has %d bytes, and may have %d", len(text), inbox.MaxText), hint: "put it into a file, and tell the agent to read that"}
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				return exitComplete, t.tell(args[0], text, *wait)
			}
		},
	}
}

// tell leaves the text in the inbox of the board's run, and waits for what becomes of it.
func (t *terminal) tell(board, text string, wait time.Duration) error {
	dir, err := inspect.Locate(board)
	if err != nil {
		return err
	}
	step, err := stepAtWork(board)
	if err != nil {
		return err
	}
	if proc.BearsMark(agent.ParseMark(step.Mark)) {
		return &notToldError{"an agent does not speak for a person", ""}
	}
	m := inbox.Message{ID: agent.NewMessageID(), Step: step.Number, Text: text}
	if err := dir.MakeInbox(); err != nil {
		return err
	}
	if err := inbox.Post(dir.Inbox(), m); err != nil {
		return fmt.Errorf("leave the message: %w", err)
	}
	return t.awaitMessage(board, dir, m, wait)
}

// stepAtWork is the step in which an agent works now. Errors: *notToldError.
func stepAtWork(board string) (*flow.Step, error) {
	owned, err := inspect.IsOwned(board)
	if err != nil {
		return nil, err
	}
	h, _, err := inspect.History(board, func(flow.Entry) error { return nil })
	switch {
	case err != nil:
		return nil, err
	case !owned:
		return nil, &notToldError{"no run of " + board + " is at work", "write it into the task file, which the next agent reads"}
	case h.State.Step == nil || h.State.Step.Running == 0:
		return nil, &notToldError{"no agent is at work in this moment", "try again"}
	default:
		return h.State.Step, nil
	}
}

// fate is what became of a message so far.
type fate struct {
	sent  *flow.MessageSent
	heard *flow.MessageHeard
	lost  *flow.MessageLost
}

func (f *fate) note(id string, e flow.Event) {
	switch e := e.(type) {
	case flow.MessageSent:
		if e.ID == id {
			f.sent = &e
		}
	case flow.MessageHeard:
		if e.ID == id {
			f.heard = &e
		}
	case flow.MessageLost:
		if e.ID == id {
			f.lost = &e
		}
	}
}

// awaitMessage says what became of a message, at the latest after wait.
func (t *terminal) awaitMessage(board string, dir rundir.Dir, m inbox.Message, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(pollInterval / 3) {
		owned, err := inspect.IsOwned(board)
		if err != nil {
			return err
		}
		var f fate
		if _, _, err := inspect.History(board, func(e flow.Entry) error { f.note(m.ID, e.Event); return nil }); err != nil {
			return err
		}
		switch late := time.Now().After(end); {
		case f.lost != nil:
			return &notToldError{f.lost.Reason, ""}
		case f.heard != nil:
			return t.stdout.Printf("%s has it (%s, step %d)\n", report.Player(f.heard.AttemptRef), f.heard.Task, f.heard.Step)
		case f.sent != nil && late:
			return t.stdout.Printf("sent to %s (%s, step %d), which gets it when its open call has ended; kanban-run log -f %s tells\n",
				report.Player(f.sent.AttemptRef), f.sent.Task, f.sent.Step, report.Quote(board))
		case f.sent == nil && (late || !owned) && inbox.Withdraw(dir.Inbox(), m.ID):
			return &notToldError{"the run did not take it", "look at it with kanban-run status " + report.Quote(board)}
		case !owned:
			return &notToldError{"the run has ended", ""}
		}
	}
}

// notToldError says why an agent was not told something.
type notToldError struct{ why, hint string }

func (e *notToldError) Error() string { return "not told: " + e.why }

// Hint says what to do instead.
func (e *notToldError) Hint() string { return e.hint }
