package inspect

import (
	"errors"
	"path/filepath"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/standing"
)

// Board is the present state of a board, from its file and its journal.
type Board struct {
	standing.Standing
	History  flow.History
	Records  uint64 // number of records in the journal
	Owned    bool   // a run is at work
	Rejected int    // see [standing.Tasks.Rejected]
	Dir      rundir.Dir

	// Find returns the place of a journaled task in Tasks, or -1. Find is nil if the board cannot
	// be read.
	Find func(task string) int
}

// Look reads a board. It calls the function visit for every entry of the journal in order. A board
// that cannot be read has no tasks. Errors: *ledger.NoRunError and *ledger.UnreadableError. With
// these errors it also returns a Board, which has only the part of the journal before the fault. A
// journal that only a later version may run is no error: the Board has what this version knows of
// it, and its standing is that of a board that cannot be run.
func Look(path string, visit func(event.Entry)) (Board, error) {
	var tasks standing.Tasks
	h, sum, err := History(path, func(e event.Entry) error {
		tasks.Add(e)
		visit(e)
		return nil
	})
	b := Board{History: h, Records: sum.Records, Rejected: tasks.Rejected()}
	var located, asked error
	b.Dir, located = Locate(path)
	b.Owned, asked = IsOwned(path)
	source, _, unreadable := ReadBoard(path, true, func(string) {})
	if b.Dir.Path != "" && filepath.Base(path) == filepath.Base(b.Dir.Journal()) {
		source, unreadable = nil, nil // path names a journal, not a board
	}
	facts, contradicts := ledger.FactsOf(b.Dir, path, source, unreadable, &b.History, b.Owned)
	b.Standing, b.Find = standing.Of(path, &b.History, &tasks, facts), facts.List.Find
	if errors.As(err, new(*ledger.NoRunError)) && b.Outcome != standing.NeverRun {
		err = nil // the board itself shows how it ended
	}
	if err = errors.Join(err, located, asked, contradicts); err != nil && !errors.As(err, new(*ledger.NoRunError)) {
		b.SetUnreadable(err)
	} else if refused := ledger.RequireForm(b.Dir, h); refused != nil && !b.Owned {
		b.SetInvalid(refused)
	}
	return b, err
}
