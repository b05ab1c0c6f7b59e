package call

import (
	"path"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// BeginStep clears the facts about the last step and the accounts of its sessions. The accounts of
// the supervisor stay, because only its session outlives a step. at is zero for a step that an
// earlier run began.
func (c *Caller) BeginStep(at time.Time) {
	c.accounts, c.said, c.printed, c.paused, c.opened = attempt.Accounts{}, "", "", 0, at
}

// Said returns the reply of the last task agent of the open step, if this run started it.
func (c *Caller) Said() string { return c.said }

// Printed returns the last line on stderr of the last attempt that gave no valid reply, in the open step and in
// this run.
func (c *Caller) Printed() string { return c.printed }

// Steps returns the number of steps that this run has finished, without those of the supervisor.
func (c *Caller) Steps() int { return c.steps }

// Left is what a step leaves of the board.
type Left struct {
	BoardSHA string      // SHA-256 of the board
	Warning  string      // a difference between board and reply, in words; "": there is none
	Change   flow.Change // what the Manager changed of the list
}

// FinishStep appends the end of a step.
func (c *Caller) FinishStep(step *flow.Step, left Left) error {
	e := event.StepFinished{Step: step.Number, Task: step.Task, Role: step.Role, Status: step.TaskStatus,
		Manager: step.Reply.Status,
		Message: step.Reply.Message, NextTask: step.Reply.NextTask, BoardSHA: left.BoardSHA, Warning: left.Warning, Dropped: left.Change.Dropped, Renamed: left.Change.Renamed,
		Quarantined: c.Quarantined()}
	if step.Checkpoint != nil {
		e.Checkpoint = step.Checkpoint.ID
	} else {
		c.steps++
		e.Leaving = c.leaving(step)
	}
	if e.Status == "" {
		e.Status = step.Reply.Status
	}
	if !c.opened.IsZero() {
		e.Millis = (c.Now().Sub(c.opened) - c.paused).Milliseconds()
	}
	return c.Journal.FinishStep(e)
}

// leaving returns the state in which a step leaves the work tree. It returns nil if there is no
// next task, if that task was not worked on lately, or in a dry run.
func (c *Caller) leaving(step *flow.Step) *event.Leaving {
	if c.DryRun || step.Reply.NextTask == nil {
		return nil
	}
	next := c.Workspace.Seen(*step.Reply.NextTask)
	switch {
	case path.Clean(next) == path.Clean(step.Task):
	case c.Journal.State().WasWorkedOn(next):
		return &event.Leaving{Other: true, Tree: c.projectHash()}
	default:
		return nil
	}
	left := &event.Leaving{Tree: c.projectHash(), Said: c.said}
	entry := c.Workspace.LastEntry(step.Task)
	if left.Tree == "" { // if the tree is known, the files tell more than the words
		left.Finding = event.FindingOf(left.Said + "\n" + entry)
	}
	return left
}

// Quarantined returns the files of the tasks in quarantine, as they are now.
func (t *Turn) Quarantined() (files []event.TaskFile) {
	for _, q := range t.Journal.State().Quarantine {
		files = append(files, event.TaskFile{Task: q.Task, SHA: t.Workspace.TaskSHA(q.Task)})
	}
	return files
}
