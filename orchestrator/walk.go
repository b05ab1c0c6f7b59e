package orchestrator

import (
	"errors"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
)

// walk plays a Manager's call without a program. One record holds the decision and the intent to write
// it; then the board is written.
func (l *loop) walk(e flow.Walk, b *board.Board) error {
	if waited, err := l.claims.Take(e.Spawn); err != nil || waited {
		return err
	}
	if l.ledger.State().Step == nil {
		return l.openStep(e.Spawn, b) // what follows may be that its task is set aside
	}
	l.workspace.Forget() // a person may have edited it since it was read
	b, err := l.workspace.Look()
	if err != nil {
		return err
	}
	walked, after, err := l.workspace.Walk(b, l.ledger.State())
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

// writeWalked goes on after a run died with a decision of walk in its journal. If the board has the
// decision, or a person has edited its current task or its end since, the step is finished.
// Otherwise walk decides anew on the present board, which costs nothing.
func (l *loop) writeWalked(step *flow.Step, b *board.Board) error {
	walked := *step.Walked
	if b.SHA == walked.After {
		return l.finishWalk(walked)
	}
	if moved := l.workspace.Moved(b, walked); moved != "" && b.SHA != walked.Before {
		walked.Warning = moved // the bytes of the decision stay: that the board has others tells that a person ended it
		return l.finishWalk(walked)
	}
	e := event.AttemptRef{Step: step.Number, Call: event.ManagerCall, Task: step.Task, Role: event.ManagerRole}
	return l.walk(flow.Walk{Spawn: flow.Spawn{AttemptRef: e}}, b)
}

func (l *loop) finishWalk(e event.ManagerWalked) error {
	return errors.Join(l.caller.FinishStep(l.ledger.State().Step, call.Left{BoardSHA: e.After, Warning: e.Warning}),
		l.claims.Release())
}
