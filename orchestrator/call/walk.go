package call

import (
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
)

// Walk makes a Manager's call without a program: package walk decides. One record holds the decision
// and the intent to write it. Then Walk writes the board and finishes the step.
func (c *Caller) Walk() error {
	c.Workspace.Forget() // a person may have edited the board since it was read
	b, err := c.Workspace.Look()
	if err != nil {
		return err
	}
	walked, after, err := c.Workspace.Walk(b, c.Journal.State())
	if err != nil {
		return err
	}
	if err := c.Journal.Record(walked); err != nil {
		return err
	}
	failpoint.At("walked")
	if walked.After != walked.Before {
		if err := c.Workspace.Save(after); err != nil {
			return err
		}
		failpoint.At("walk-written")
	}
	return c.finishWalk(walked)
}

// FinishWalked continues the work of a run that died after it had journaled a decision of package
// walk. If the decision is on the board, FinishWalked finishes the step. It also finishes the step if a
// person has since edited the current task or the end of the board. Otherwise the result is false:
// package walk has to decide anew on the present board, which costs no money.
func (c *Caller) FinishWalked(b *board.Board) (finished bool, err error) {
	walked := *c.Journal.State().Step.Walked
	if b.SHA == walked.After {
		return true, c.finishWalk(walked)
	}
	moved := c.Workspace.Moved(b, walked)
	if moved == "" || b.SHA == walked.Before {
		return false, nil
	}
	// The record keeps the SHA-256 that the decision would have given the board. The edited board has
	// another SHA-256, so an end of the board counts as the work of a person.
	walked.Warning = moved
	return true, c.finishWalk(walked)
}

func (c *Caller) finishWalk(e event.ManagerWalked) error {
	return c.FinishStep(c.Journal.State().Step, Left{BoardSHA: e.After, Warning: e.Warning})
}
