package ledger

import (
	"errors"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/rundir"
)

// WorkedIn returns [flow.State.WorkedIn] of a board's journal. It reads the journal up to the first accepted
// reply. Of a journal that cannot be read it returns "": a run says what is wrong with it.
func WorkedIn(dir rundir.Dir) string {
	var h flow.History
	found := errors.New("found")
	_, err := Continue(journal.Follow(dir.Journal()), dir, &h, func(event.Entry) error {
		if h.State.WorkedIn != "" {
			return found
		}
		return nil
	})
	if !errors.Is(err, found) {
		return ""
	}
	return h.State.WorkedIn
}
