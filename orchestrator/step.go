package orchestrator

import (
	"errors"
	"path"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
)

// openStep journals that a step begins.
func (l *loop) openStep(e flow.Spawn, b *board.Board) error {
	l.opened = l.Now()
	l.outcomes.BeginStep()
	index, of := l.Workspace.Position(b, e.Task)
	started := flow.StepStarted{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: b.SHA, Index: index, Of: of, Mark: l.claims.Mark(e)}
	if clean := path.Clean(e.Task); clean != e.Task {
		started.Path = clean
	}
	if e.Call.IsSupervision() {
		started.Call, started.Checkpoint = e.Call, e.Checkpoint
	}
	return l.Ledger.Append(started)
}

// reassign gives the open call to the next agent of the settings: seed 002,
// "Reassignment Readiness".
func (l *loop) reassign(e flow.Reassign) error {
	step := l.State().Step
	return l.Ledger.Record(flow.Reassigned{Step: step.Number, Task: step.Task, Role: step.CallRole(), Call: step.Call, Number: e.Number, To: e.To, Reason: e.Reason})
}

// suspectLoop puts a task into quarantine: seed 002, "Review Loop". The Manager is told,
// if its role accepts that.
func (l *loop) suspectLoop(e flow.SuspectLoop, b *board.Board) error {
	manager, err := l.Player(flow.ManagerRole)
	return l.Ledger.Record(flow.LoopSuspected{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: b.SHA, TaskSHA: l.Workspace.TaskSHA(e.Task),
		Told: err == nil && manager.Role.Anomalies, Suspicion: e.Suspicion})
}

// finishStep appends the end of a step; warning says where board and reply differ.
func (l *loop) finishStep(step *flow.Step, sha, warning string) error {
	if step.Checkpoint == nil {
		l.steps++
	}
	e := flow.StepFinished{Step: step.Number, Task: step.Task, Role: step.Role, Status: step.TaskStatus, Manager: step.Reply.Status,
		Message: step.Reply.Message, NextTask: step.Reply.NextTask, BoardSHA: sha, Warning: warning,
		Quarantined: l.quarantined()}
	if step.Checkpoint != nil {
		e.Checkpoint = step.Checkpoint.ID
	} else {
		e.Leaving = l.leaving(step)
	}
	if e.Status == "" {
		e.Status = step.Reply.Status
	}
	if !l.opened.IsZero() {
		e.Millis = (l.Now().Sub(l.opened) - l.outcomes.Paused()).Milliseconds()
	}
	return errors.Join(l.Ledger.FinishStep(e), l.claims.Release())
}

// leaving is how a step leaves the work tree; nil: a task is next that was not worked on lately.
func (l *loop) leaving(step *flow.Step) *flow.Leaving {
	if l.DryRun || step.Reply.NextTask == nil {
		return nil
	}
	next := l.Workspace.Seen(*step.Reply.NextTask)
	switch {
	case path.Clean(next) == path.Clean(step.Task):
	case l.State().WasWorkedOn(next):
		return &flow.Leaving{Other: true, Tree: l.ProjectHash()}
	default:
		return nil
	}
	left := &flow.Leaving{Tree: l.ProjectHash(), Said: l.outcomes.Said()}
	entry := l.Workspace.LastEntry(step.Task)
	if left.Tree == "" { // else the files tell more: an approval of each of many parts is the same word, too
		left.Finding = flow.FindingOf(left.Said + "\n" + entry)
	}
	return left
}

// quarantined are the files of tasks in quarantine.
func (l *loop) quarantined() (files []flow.TaskFile) {
	for _, q := range l.State().Quarantine {
		files = append(files, flow.TaskFile{Task: q.Task, SHA: l.Workspace.TaskSHA(q.Task)})
	}
	return files
}
