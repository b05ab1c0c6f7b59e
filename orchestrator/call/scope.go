package call

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/rundir"
)

// scope is the guard of what a supervisor only reads: the files of the project and of the run. It has a
// snapshot from before the first attempt of a supervisor's step.
type scope struct{ caller *Caller }

// Scope returns the guard of the supervisor's turns.
func (c *Caller) Scope() guard.Guard { return scope{c} }

func (scope) Name() string { return "scope" }

func (s scope) watches(t *guard.Turn) bool {
	return !t.IsOurs() && t.Ref.Call.IsSupervision()
}

// Begin notes nothing: behind a kill it is unknown who changed what.
func (s scope) Begin(t *guard.Turn) (any, error) {
	if c := s.caller; s.watches(t) && c.treeOf != t.Ref.Step {
		c.tree, c.treeOf = c.Workspace.Tree(), t.Ref.Step
	}
	return nil, nil
}

func (s scope) End(t *guard.Turn) error {
	if s.watches(t) {
		s.caller.tellChanges(t)
	}
	return nil
}

func (scope) Resume(*flow.Step, bool, rundir.Note) error { return nil }

// noteWrite keeps the file that an agent's own event says that it has written. One goroutine calls it,
// which ends before the attempt does.
func (a *Attempt) noteWrite(ev agent.Event) {
	if ev.Class == agent.EditTool && ev.Kind == agent.ToolStarted {
		a.writes[ev.ID] = ev.Text
	}
	if file, ok := a.writes[ev.ID]; ok && ev.Kind == agent.ToolEnded {
		if delete(a.writes, ev.ID); !ev.Failed && !slices.Contains(a.wrote, file) {
			a.wrote = append(a.wrote, file)
		}
	}
}

// violations returns what makes the supervisor's verdict void (seed 001, "Role Isolation Rules"): files
// that its own events say that it wrote, and processes that it started and that live. A program that
// reads JSON tells no writes. What is only found changed may be anyone's, and is at most said.
func (c *Caller) violations(a *Attempt, spawned []string) (files []string) {
	if c.treeOf != a.Intent.Step {
		return nil // it is no supervisor's
	}
	for _, file := range a.wrote {
		if !c.mayWrite(file) {
			files = append(files, file)
		}
	}
	if !c.readsText(a) { // only a model's tool is allowed to leave processes running
		for _, name := range spawned {
			files = append(files, "process "+name)
		}
	}
	return files
}

// mayWrite reports whether the supervisor may write a file: its reports and its wisdom.
func (c *Caller) mayWrite(file string) bool {
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Workspace.WorkDir(), file)
	}
	name, err := filepath.Rel(c.Folder.Path, file)
	name = filepath.ToSlash(name)
	return err == nil && (strings.HasPrefix(name, "wisdom/") || strings.HasPrefix(name, "artifacts/CHECKPOINT-"))
}

// tellChanges puts files of the run back that were changed in a supervisor's attempt, and gives a notice
// of them and of the other files that git does not ignore, unless other boards were worked on. The board is
// looked at as after any turn.
func (c *Caller) tellChanges(t *guard.Turn) {
	report := ""
	if checkpoint := c.Journal.State().Step.Checkpoint; checkpoint != nil {
		report = briefing.ReportName(checkpoint.ID)
	}
	now := c.Workspace.Tree()
	files, own := now.Changes(c.tree, report)
	if where := c.Workspace.PutBackOwn(now, c.tree, own, c.Redactor.String); len(own) > 0 {
		c.Observer.Notice(c.Board, fmt.Sprintf("files of the run changed while %s: %s; they are put back (%s)",
			t.Doing, event.List(own, mostNamed), where))
	}
	c.tree = c.tree.WithFiles(now) // what is told is told once
	files = slices.DeleteFunc(files, func(name string) bool { return name == c.Workspace.KanbanFile() || c.Workspace.IsOfRuns(name) })
	if len(t.Others) > 0 {
		return // whose agents write
	}
	if files = c.Workspace.Unignored(c.Stop, files); len(files) > 0 {
		c.Observer.Notice(c.Board, fmt.Sprintf("files changed while %s: %s", t.Doing, event.List(files, mostNamed)))
	}
}

// The greatest number of changed files in an event's list, and in an event's text.
const (
	maxFiles  = 50
	mostNamed = 5
)

// accuse returns the event that makes the verdict void.
func (c *Caller) accuse(a *Attempt, e *attempt.Ended, files []string) event.ScopeViolated {
	text := fmt.Sprintf("SUPERVISOR_SCOPE_VIOLATION: %s written or begun while %s, and it may only read: "+
		"its verdict does not count", event.List(files, mostNamed), looking(a.Ref()))
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
