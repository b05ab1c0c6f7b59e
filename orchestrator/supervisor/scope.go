package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
)

// LookAround notes what the files are before the first attempt of a supervisor's step.
func (s *Supervisor) LookAround(e flow.Spawn) {
	if e.Call.IsSupervision() && !s.run.DryRun && s.treeOf != e.Step {
		s.tree, s.treeOf = s.run.Workspace.Tree(), e.Step
	}
}

// Violations lists the files that have changed, and the processes that were left running, since a
// supervisor was first told to look. A supervisor may only read: seed 001, "Role Isolation Rules".
// Where its tool keeps it from writing, or a run of another board may have changed the files, a
// change is told as a notice and is no violation.
func (s *Supervisor) Violations(e flow.Spawn, p *roster.Player, spawned []string) []string {
	if !e.Call.IsSupervision() || s.run.DryRun {
		return nil
	}
	report := ""
	if c := s.run.State().Step.Checkpoint; c != nil {
		report = briefing.ReportName(c.ID)
	}
	now := s.run.Workspace.Tree()
	files, sure := now.Changes(s.tree, s.briefing.Folder(), report)
	board := func(name string) bool { return name == s.run.Workspace.KanbanFile() }
	var doubtful []string
	switch {
	case p.IsConfined():
		sure, doubtful = nil, append(files, sure...)
	case !s.crowded && !now.HasNeighbours(s.tree):
		sure = append(files, sure...)
	default:
		if slices.ContainsFunc(files, board) {
			sure = append(sure, s.run.Workspace.KanbanFile())
		}
		doubtful = slices.DeleteFunc(files, board)
	}
	if !s.readsText(e) { // a model's own tool starts what it needs
		for _, name := range spawned {
			sure = append(sure, "process "+name)
		}
	}
	if len(doubtful) > 0 && len(sure) == 0 {
		s.run.Observer.Notice(s.run.Board, fmt.Sprintf("files changed while %s, most likely by a person or another run: %s", looking(e), names(doubtful)))
	}
	return sure
}

// maxFiles bounds the changed files that are journaled.
const maxFiles = 50

// Accuse gives the board its bytes back, and is the event that a verdict does not count.
func (s *Supervisor) Accuse(e flow.Spawn, files []string) event.ScopeViolated {
	text := fmt.Sprintf("SUPERVISOR_SCOPE_VIOLATION: %s changed or began while %s, and it may only read: its verdict does not count", names(files), looking(e))
	if before := s.run.State().Step.BoardSHA; s.run.BoardLeft() != before {
		if err := s.run.Workspace.PutBack(before); err == nil {
			text += "; the board got its earlier bytes back"
		}
	}
	return event.ScopeViolated{AttemptRef: e.AttemptRef, Files: files[:min(len(files), maxFiles)], Text: text, Left: s.run.BoardLeft()}
}

// looking is what a supervisor did.
func looking(e flow.Spawn) string {
	if e.Call == event.ReadyCall {
		return e.Role + " got ready"
	}
	return e.Role + " looked at " + e.Task
}

// names lists some files.
func names(files []string) string {
	const most = 5
	text := strings.Join(files[:min(len(files), most)], ", ")
	if more := len(files) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
