package orchestrator

import (
	"errors"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
)

// walk performs a Manager's call without a program. One record holds the decision and the intent to
// write it. Then walk writes the board.
func (l *loop) walk(e flow.Walk, b *board.Board) error {
	if waited, err := l.claims.Take(e.Spawn); err != nil || waited {
		return err
	}
	if l.ledger.State().Step == nil {
		return l.openStep(e.Spawn, b) // then package flow decides anew: it might set the task aside
	}
	l.workspace.Forget() // a person may have edited the board since it was read
	b, err := l.workspace.Look()
	if err != nil {
		return err
	}
	walked, after, err := l.workspace.Walk(b, l.ledger.State(), l.caller.Said())
	if err != nil {
		return err
	}
	if err := l.ledger.Record(walked); err != nil {
		return err
	}
	failpoint.At("walked")
	if walked.After != walked.Before {
		if err := l.workspace.Save(after); err != nil {
			return err
		}
		failpoint.At("walk-written")
	}
	return l.finishWalk(walked)
}

// writeWalked continues the work of a run that died after it had journaled a decision of package
// walk. If the decision is on the board, writeWalked finishes the step. It also finishes the step
// if a person has since edited the current task or the end of the board. Otherwise package walk
// decides anew on the present board. The new decision costs no money.
func (l *loop) writeWalked(step *flow.Step, b *board.Board) error {
	walked := *step.Walked
	if b.SHA == walked.After {
		return l.finishWalk(walked)
	}
	if moved := l.workspace.Moved(b, walked); moved != "" && b.SHA != walked.Before {
		// The record keeps the SHA-256 that the decision would have given the board. The edited
		// board has another SHA-256, so an end of the board counts as the work of a person.
		walked.Warning = moved
		return l.finishWalk(walked)
	}
	e := event.AttemptRef{Step: step.Number, Call: event.ManagerCall, Task: step.Task, Role: event.ManagerRole}
	return l.walk(flow.Walk{Spawn: flow.Spawn{AttemptRef: e}}, b)
}

func (l *loop) finishWalk(e event.ManagerWalked) error {
	return errors.Join(l.caller.FinishStep(l.ledger.State().Step, call.Left{BoardSHA: e.After, Warning: e.Warning}),
		l.claims.Release())
}
