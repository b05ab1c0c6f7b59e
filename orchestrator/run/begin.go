package run

import (
	"kanban-run/orchestrator/divergence"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/pool"
	"kanban-run/orchestrator/preflight"
)

// NoteBegin looks at all boards of a command before any agent is at work. A single board is looked at
// when its run begins, and then its entry is nil.
func NoteBegin(boards []*preflight.Prepared, all *pool.Pool) []*divergence.Begun {
	begun := make([]*divergence.Begun, len(boards))
	all.IsDone = ledger.IsDone
	for i, p := range boards {
		all.Boards = append(all.Boards, p.Workspace.Path)
		if len(boards) > 1 && !p.DryRun {
			begun[i] = divergence.Note(p.Workspace, p.Workspace.Place, all.Turns)
			p.Workspace.Forget()
		}
	}
	return begun
}
