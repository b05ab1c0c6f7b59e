package ledger

import (
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/rundir"
)

// Fold replays a board's journal without opening it for writing, so a run can write to it at the
// same time. Fold calls the function visit for every entry, unless that function is nil. It reads
// also a journal that only a later version may run, see [flow.History.Newer]. Errors:
// *UnreadableError, with the history before the fault.
func Fold(dir rundir.Dir, visit func(event.Entry) error) (flow.History, journal.Summary, error) {
	return Follow(dir).Fold(visit)
}

// Follower folds a board's journal that goes on, and keeps its place. It is not safe for concurrent
// use.
type Follower struct {
	dir     rundir.Dir
	journal *journal.Follower
	history flow.History
}

// Follow returns a Follower of the journal in dir.
func Follow(dir rundir.Dir) *Follower {
	return &Follower{dir: dir, journal: journal.Follow(dir.Journal())}
}

// Fold is like the function [Fold], but reads only the entries that were added since the last call,
// and calls the function visit only for them. Errors: those of the function Fold, and
// [journal.ErrReplaced]. After an error the next call begins anew, with the first entry.
func (f *Follower) Fold(visit func(event.Entry) error) (flow.History, journal.Summary, error) {
	sum, err := f.journal.Read(func(r journal.Record) error {
		e, err := decode(r)
		if err != nil {
			return err
		}
		f.history.Add(e)
		if visit == nil {
			return nil
		}
		return visit(e)
	})
	h := f.history
	if err != nil {
		f.history = flow.History{}
	}
	return h, sum, explain(f.dir, err)
}
