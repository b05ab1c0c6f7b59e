package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/rundir"
)

// follower reads the history of a board again and again, and each time only what was added.
type follower struct {
	board string // path of the board
	dir   rundir.Dir
	fold  *ledger.Follower // nil: nothing was read
}

// history is like [inspect.History], but calls the function visit only for the entries that were
// added since the last call. If the journal was replaced, it calls visit for all entries.
func (f *follower) history(visit func(event.Entry) error) (flow.History, journal.Summary, error) {
	dir, err := inspect.Locate(f.board)
	if err != nil {
		return flow.History{}, journal.Summary{}, err
	}
	if f.fold == nil || dir != f.dir {
		f.dir, f.fold = dir, ledger.Follow(dir)
	}
	h, sum, err := f.fold.Fold(visit)
	if errors.Is(err, journal.ErrReplaced) {
		h, sum, err = f.fold.Fold(visit)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = &ledger.NoRunError{Board: f.board}
	}
	if err == nil && filepath.Base(f.board) != filepath.Base(dir.Journal()) {
		err = ledger.CheckFile(dir, h)
	}
	return h, sum, err
}
