package call

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/event"
)

// snapshotTree remembers the files of the project before the first attempt of a supervisor's step.
func (c *Caller) snapshotTree(a *Attempt) {
	if a.Intent.Call.IsSupervision() && !c.DryRun && c.treeOf != a.Intent.Step {
		c.tree, c.treeOf = c.Workspace.Tree(), a.Intent.Step
	}
}

// violations returns the files that the supervisor has changed in this step, and the processes that
// the supervisor has left running. A supervisor may only read (seed 001, "Role Isolation Rules"). A
// change is in doubt if the supervisor's tool cannot write, or if a run of another board uses the
// folder. Another program might have made such a change. A change in doubt leads at most to a
// notice.
func (c *Caller) violations(a *Attempt, spawned []string) []string {
	if !a.Intent.Call.IsSupervision() || c.DryRun {
		return nil
	}
	sure, doubtful := c.changes(a)
	if !c.readsText(a) { // only a model's tool is allowed to leave processes running
		for _, name := range spawned {
			sure = append(sure, "process "+name)
		}
	}
	if len(doubtful) > 0 && len(sure) == 0 {
		c.Observer.Notice(c.Board, fmt.Sprintf("files changed while %s, most likely by a person or another run: %s",
			looking(a.Ref()), event.List(doubtful, mostNamed)))
	}
	return sure
}

// changes returns the files that have changed in a supervisor's step. The list sure has the files
// that the supervisor has changed. The list doubtful has the files that another program might have
// changed.
func (c *Caller) changes(a *Attempt) (sure, doubtful []string) {
	report := ""
	if checkpoint := c.Journal.State().Step.Checkpoint; checkpoint != nil {
		report = briefing.ReportName(checkpoint.ID)
	}
	now := c.Workspace.Tree()
	files, sure := now.Changes(c.tree, c.Supervisor.Briefing().Folder(), report)
	board := func(name string) bool { return name == c.Workspace.KanbanFile() }
	switch {
	case a.Player.IsConfined():
		return nil, append(files, sure...)
	case !c.SharedDir && !now.HasNeighbours(c.tree):
		return append(files, sure...), nil
	case slices.ContainsFunc(files, board):
		sure = append(sure, c.Workspace.KanbanFile())
	}
	return sure, slices.DeleteFunc(files, board)
}

// The greatest number of changed files in an event's list, and in an event's text.
const (
	maxFiles  = 50
	mostNamed = 5
)

// accuse puts the board back, and returns the event that makes the verdict void.
func (c *Caller) accuse(a *Attempt, e *attempt.Ended, files []string) event.ScopeViolated {
	text := fmt.Sprintf("SUPERVISOR_SCOPE_VIOLATION: %s changed or began while %s, and it may only read: "+
		"its verdict does not count", event.List(files, mostNamed), looking(a.Ref()))
	if before := c.Journal.State().Step.BoardSHA; c.boardLeft() != before {
		if err := c.Workspace.PutBack(before); err == nil {
			text += "; the board got its earlier bytes back"
		}
	}
	return event.ScopeViolated{AttemptRef: a.Ref(), Files: files[:min(len(files), maxFiles)], Text: text,
		End: c.end(a, e)}
}

// looking returns in words what the supervisor did.
func looking(r event.AttemptRef) string {
	if r.Call == event.ReadyCall {
		return r.Role + " got ready"
	}
	return r.Role + " looked at " + r.Task
}
