package outcome

import (
	"path"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// BeginStep forgets the step before; at is zero for a step that an earlier run began. No session
// but the supervisor's outlives its step.
func (r *Recorder) BeginStep(at time.Time) {
	r.accounts, r.said, r.paused, r.opened = attempt.Accounts{}, "", 0, at
}

// Said is what the last task agent of the open step replied, if this run started it.
func (r *Recorder) Said() string { return r.said }

// Steps is how many steps this run has finished; the looks of the supervisor are none.
func (r *Recorder) Steps() int { return r.steps }

// FinishStep appends the end of a step, which left a board with the SHA-256 sha; warning says where
// board and reply differ.
func (r *Recorder) FinishStep(step *flow.Step, sha, warning string) error {
	e := event.StepFinished{Step: step.Number, Task: step.Task, Role: step.Role, Status: step.TaskStatus, Manager: step.Reply.Status,
		Message: step.Reply.Message, NextTask: step.Reply.NextTask, BoardSHA: sha, Warning: warning,
		Quarantined: r.run.Quarantined()}
	if step.Checkpoint != nil {
		e.Checkpoint = step.Checkpoint.ID
	} else {
		r.steps++
		e.Leaving = r.leaving(step)
	}
	if e.Status == "" {
		e.Status = step.Reply.Status
	}
	if !r.opened.IsZero() {
		e.Millis = (r.run.Now().Sub(r.opened) - r.paused).Milliseconds()
	}
	return r.run.Ledger.FinishStep(e)
}

// leaving is how a step leaves the work tree; nil: a task is next that was not worked on lately.
func (r *Recorder) leaving(step *flow.Step) *event.Leaving {
	if r.run.DryRun || step.Reply.NextTask == nil {
		return nil
	}
	next := r.run.Workspace.Seen(*step.Reply.NextTask)
	switch {
	case path.Clean(next) == path.Clean(step.Task):
	case r.run.State().WasWorkedOn(next):
		return &event.Leaving{Other: true, Tree: r.run.ProjectHash()}
	default:
		return nil
	}
	left := &event.Leaving{Tree: r.run.ProjectHash(), Said: r.said}
	entry := r.run.Workspace.LastEntry(step.Task)
	if left.Tree == "" { // else the files tell more: an approval of each of many parts is the same word, too
		left.Finding = event.FindingOf(left.Said + "\n" + entry)
	}
	return left
}
