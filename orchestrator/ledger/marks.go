package ledger

import (
	"encoding/json"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/rundir"
)

// Marks returns the marks of the processes that the last runs of a board may have left behind. It
// reads them from the records and not from the state, so that it finds them also in a journal that
// is damaged, contradicts itself, or is of a later version. A run starts a program only after the
// leftovers of the earlier ones have ended, so the last mark of each kind of record and call is
// enough. A journal that was copied from another board has no marks of this one. born is the place of
// the processes.
func Marks(dir rundir.Dir) (marks []string, born durable.Place, err error) {
	var file string
	last := map[string]string{}
	err = journal.Salvage(dir.Journal(), func(r journal.Record) {
		var data struct{ Mark, Call, File, Place string }
		_ = json.Unmarshal(r.Data, &data) // a field of another type is none of these
		if data.Place != "" {
			born = durable.Place(data.Place)
		}
		if r.Type == (event.PlaceChanged{}).Kind() {
			clear(last) // those are marks of another place
		}
		if r.Type == (event.HandoffOffered{}).Kind() && data.File != "" {
			file = data.File
		}
		if data.Mark != "" {
			last[r.Type+" "+data.Call] = data.Mark
		}
	})
	if file != "" && file != dir.BoardFile() {
		return nil, born, err
	}
	for _, mark := range last {
		marks = append(marks, mark)
	}
	return marks, born, err
}
