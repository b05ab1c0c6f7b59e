package call

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// setInput gives the first attempt of a call a new input, which the intent of the attempt records.
// Each later attempt gets the same bytes (seed 004, "Retry Rule (CRITICAL)"). setInput refuses
// paths with a secret, because the journal would redact them and a retry would get other bytes.
func (c *Caller) setInput(a *Attempt, make func() (contract.Input, error)) (err error) {
	step := c.Journal.State().Step
	if step.Input != nil {
		a.Input, err = c.restoreInput(step)
		return err
	}
	if err := workspace.CheckSecrets(c.Redactor, a.Intent.Task, c.Workspace.KanbanFile()); err != nil {
		return err
	}
	if a.Input, err = make(); err != nil {
		return err
	}
	inline, rest, err := a.Input.Journaled()
	if err != nil {
		return err
	}
	a.Intent.Input = inline
	if rest != nil {
		if a.Intent.Stored, err = c.Folder.Store(rest); err != nil {
			return err
		}
		failpoint.At("input-stored")
	}
	c.input, c.inputOf = a.Input, inputKey(step)
	return nil
}

// inputKey returns the key with which Caller.inputOf identifies the open call.
func inputKey(s *flow.Step) event.AttemptRef {
	return event.AttemptRef{Step: s.Number, Call: s.Call, Round: s.Round}
}

// restoreInput returns the input that earlier attempts of the open call got, from memory or from
// disk. Errors: [rundir.ErrNotStored].
func (c *Caller) restoreInput(step *flow.Step) (contract.Input, error) {
	if c.inputOf == inputKey(step) {
		return c.input, nil
	}
	in, err := c.readInput(step.Input, step.Stored)
	if err == nil {
		c.input, c.inputOf = in, inputKey(step)
	}
	return in, err
}

// RestartWithoutInput starts the open call afresh if its stored input is missing or changed.
func (c *Caller) RestartWithoutInput(b *board.Board) error {
	step := c.Journal.State().Step
	if step == nil || step.Reply != nil || step.Input == nil {
		return nil
	}
	_, err := c.restoreInput(step)
	if !errors.Is(err, rundir.ErrNotStored) {
		return err
	}
	return c.Journal.Append(event.CallRestarted{Step: step.Number, Task: step.Task, BoardSHA: b.SHA,
		Reason: err.Error()})
}

// RestartUpgraded starts the open call afresh if this version of the program gives the agent other
// bytes than the version before, in a series of retries. The attempts of a series get the same
// bytes (seed 004, "Retry Rule (CRITICAL)"), so the new version begins another series. It also does
// so if the journal of the older version does not tell what the agent was given.
func (c *Caller) RestartUpgraded(a *Attempt, b *board.Board) (restarted bool, err error) {
	step, version := c.Journal.State().Step, c.Journal.State().Version
	if step.Rejected == 0 || step.Input == nil || a.Intent.GoesOn || step.GivenBy == version || isGiven(step, a.Intent) {
		return false, nil
	}
	reason := "kanban-run %s asks %s in other words than kanban-run %s did"
	if step.Command != "" && step.Command == a.Intent.Command {
		reason = "kanban-run %s does not know whether it asks %s in the same words as kanban-run %s did"
	}
	reason = fmt.Sprintf(reason, version, a.Intent.Player(), cmp.Or(step.GivenBy, "before"))
	return true, c.Journal.Record(event.CallRestarted{Step: step.Number, Task: step.Task, BoardSHA: b.SHA, Reason: reason})
}

// isGiven reports whether an attempt gets the same bytes as the last one of its series. Older
// versions have journaled one digest of these bytes and of the environment, which a person may
// change between two runs. Then it is enough that the command is the same, if the agent gets
// nothing but its input besides.
func isGiven(s *flow.Step, e event.AttemptStarted) bool {
	switch s.Given {
	case e.Given, e.Digest:
		return true
	default:
		return s.Command == e.Command && e.Adapter == agent.Exec().Name()
	}
}

func (c *Caller) readInput(inline json.RawMessage, stored string) (contract.Input, error) {
	if stored == "" {
		return contract.Restore(inline, nil)
	}
	rest, err := c.Folder.Stored(stored)
	if err != nil {
		return contract.Input{}, err
	}
	return contract.Restore(inline, rest)
}
