// Package run is what all parts of one board's run work with: what was checked of the board, its
// journal, its folder, and when the run is to end.
package run

import (
	"context"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/rundir"
)

// Run is one board's run. One goroutine owns it, its ledger and its workspace.
type Run struct {
	*preflight.Prepared
	Ledger *ledger.Ledger
	Folder rundir.Dir
	Stop   context.Context // its end asks agents to end
	Kill   context.Context // its end kills them
	Slots  Slots
	Used   event.Used // by the attempts of this run

	undo []func() error // what Open did
}

// State is where the board stands, as the journal says.
func (r *Run) State() *flow.State { return r.Ledger.State() }

// Recorded is the state of the board by its journal, which need not be open.
func (r *Run) Recorded() (flow.State, error) {
	h, _, err := ledger.Fold(r.Folder, func(event.Entry) error { return nil })
	return h.State, err
}

// BoardLeft is the SHA-256 of the board as an attempt of the open step left it.
func (r *Run) BoardLeft() string { return r.Workspace.Left(r.State().Step) }

// ProjectHash identifies the state of the project's files; "": it is not known.
func (r *Run) ProjectHash() string {
	if r.DryRun {
		return ""
	}
	return r.Workspace.ProjectHash(r.Stop, agent.ParseMark(r.State().Step.Mark))
}

// Quarantined are the files of the tasks in quarantine, as they are now.
func (r *Run) Quarantined() (files []event.TaskFile) {
	for _, q := range r.State().Quarantine {
		files = append(files, event.TaskFile{Task: q.Task, SHA: r.Workspace.TaskSHA(q.Task)})
	}
	return files
}

// IsCarried says whether the state of the board goes into commits.
func (r *Run) IsCarried() bool { return r.Git.On && !r.DryRun }

// KeepStreams keeps what an attempt has printed.
func (r *Run) KeepStreams(ref event.AttemptRef) error {
	return r.Folder.KeepStreams(ref.Step, string(ref.Call), ref.Attempt)
}
