package orchestrator

import (
	"errors"
	"path"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/trust"
)

// openStep journals that a step begins.
func (l *loop) openStep(e flow.Spawn, b *board.Board) error {
	l.caller.BeginStep(l.job.Now())
	index, of := l.workspace.Position(b, e.Task)
	started := event.StepStarted{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: b.SHA, Index: index, Of: of,
		Mark: l.claims.Mark(e)}
	if clean := path.Clean(e.Task); clean != e.Task {
		started.Path = clean
	}
	if e.Call.IsSupervision() {
		started.Call, started.Checkpoint = e.Call, e.Checkpoint
	}
	return l.ledger.Append(started)
}

// isPassedOver reports whether the board goes on without the task of a call that is refused.
func (l *loop) isPassedOver(refused error, e flow.Spawn) bool {
	var changed *trust.ChangedError
	return errors.As(refused, &changed) && changed.Task != nil && l.ledger.State().MayPassOver(e)
}

// setAside lets the board go on without the task of the open step.
func (l *loop) setAside(e flow.SetAside) error {
	return l.ledger.Record(event.TaskSetAside{Step: e.Step, Task: e.Task, Role: e.Role, Status: e.Status,
		Reason: e.Reason, Done: l.workspace.SaysDone(e.Task)})
}

// suspectLoop puts a task into quarantine (seed 002, "Review Loop"). If the Manager's role accepts
// anomalies, the Manager is told of it.
func (l *loop) suspectLoop(e flow.SuspectLoop, b *board.Board) error {
	manager, err := l.job.Player(event.ManagerRole)
	return l.ledger.Record(event.LoopSuspected{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: b.SHA,
		TaskSHA: l.workspace.TaskSHA(e.Task),
		Told:    err == nil && manager.Role.Anomalies, Suspicion: e.Suspicion})
}

// walk performs a Manager's call without a program.
func (l *loop) walk(e flow.Spawn, b *board.Board) error {
	if waited, err := l.claims.Take(e); err != nil || waited {
		return err
	}
	if l.ledger.State().Step == nil {
		return l.openStep(e, b) // then package flow decides anew: it might set the task aside
	}
	if err := l.caller.Walk(); err != nil {
		return err
	}
	return l.claims.Release()
}

// finishWalked finishes the step of a run that died after package walk had decided.
func (l *loop) finishWalked(step *flow.Step, b *board.Board) error {
	finished, err := l.caller.FinishWalked(b)
	switch {
	case err != nil:
		return err
	case finished:
		return l.claims.Release()
	}
	e := event.AttemptRef{Step: step.Number, Call: event.ManagerCall, Task: step.Task, Role: event.ManagerRole}
	return l.walk(flow.Spawn{AttemptRef: e}, b)
}
