package ledger

import (
	"errors"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/rundir"
)

// WorkedIn returns [flow.State.WorkedIn] of a board's journal, and the absolute path that the folder had then. It
// reads the journal up to the first finished step. Of a journal that cannot be read it returns "": a run says
// what is wrong with it.
func WorkedIn(dir rundir.Dir) (rel, abs string) {
	var h flow.History
	known := errors.New("known")
	_, err := Continue(journal.Follow(dir.Journal()), dir, &h, func(event.Entry) error {
		if h.State.WorkedIn != "" || h.State.Finished > 0 {
			return known
		}
		return nil
	})
	if !errors.Is(err, known) {
		return "", ""
	}
	return h.State.WorkedIn, h.State.Workdir
}
