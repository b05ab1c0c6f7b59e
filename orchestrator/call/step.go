package call

import (
	"context"
	"path"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// BeginStep clears the facts about the last step and the accounts of its sessions. The accounts of
// the supervisor are kept, because only its session outlives a step. The argument at is the time at
// which the step begins, or zero if the step began in an earlier run.
func (c *Caller) BeginStep(at time.Time) {
	c.accounts, c.paused, c.opened = attempt.Accounts{}, 0, at
}

// Steps returns the number of steps that this run has finished, without those of the supervisor.
func (c *Caller) Steps() int { return c.steps }

// Uncommitted returns files of the checkout that no commit has, if the run has done anything there.
func (c *Caller) Uncommitted() []string {
	if c.steps == 0 || c.Journal.State().Clone != nil {
		return nil
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(c.Stop), 2*time.Second) // also behind Ctrl-C
	defer cancel()
	return c.Workspace.Uncommitted(stop, c.Redactor)
}

// Left is the board as a step leaves it.
type Left struct {
	BoardSHA string      // SHA-256 of the board
	Warning  string      // difference between the board and the reply, in words; "": none
	Change   flow.Change // the Manager's change of the list of tasks
}

// FinishStep appends the end of a step to the journal.
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
		e.Millis = event.Millis(c.Now().Sub(c.opened) - c.paused)
	}
	return c.Journal.FinishStep(e)
}

// leaving returns the state in which a step leaves the work tree. It returns nil in a dry run, if
// there is no next task, or if this run has not worked on the next task before.
func (c *Caller) leaving(step *flow.Step) *event.Leaving {
	if c.Run.DryRun || step.Reply.NextTask == nil {
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
	left := &event.Leaving{Tree: c.projectHash(), Said: step.Said}
	entry := c.Workspace.LastEntry(step.Task)
	if left.Tree == "" { // the tree is not known, so take the agent's words, which tell less
		left.Finding = event.FindingOf(left.Said + "\n" + entry)
	}
	return left
}

// Quarantined returns the tasks in quarantine, with the SHA-256 of their files as they are now.
func (t *Turn) Quarantined() (files []event.TaskFile) {
	for _, q := range t.Journal.State().Quarantine {
		files = append(files, event.TaskFile{Task: q.Task, SHA: t.Workspace.TaskSHA(q.Task)})
	}
	return files
}
