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
func Fold(dir rundir.Dir, visit func(event.Entry) error) (h flow.History, sum journal.Summary, err error) {
	sum, err = Continue(journal.Follow(dir.Journal()), dir, &h, visit)
	return h, sum, err
}

// Continue adds to h the entries that were added to the journal in dir since f was read last, and calls
// the function visit only for them. Errors: those of the function [Fold], and [journal.ErrReplaced].
// After an error f begins anew, with the first entry, and needs an empty history.
func Continue(f *journal.Follower, dir rundir.Dir, h *flow.History, visit func(event.Entry) error) (journal.Summary, error) {
	sum, err := f.Read(func(r journal.Record) error {
		e, err := decode(r)
		if err != nil {
			return err
		}
		h.Add(e)
		if visit == nil {
			return nil
		}
		return visit(e)
	})
	return sum, explain(dir, err)
}
