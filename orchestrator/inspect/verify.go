package inspect

import (
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Verdict is the result of reading and replaying all records of a board's journal.
type Verdict struct {
	Journal   string `json:"journal"`
	Records   uint64 `json:"records"`
	Bytes     int64  `json:"bytes"`
	TornBytes int64  `json:"torn_bytes"` // bytes after the last whole record
	// Head is the number of the record that the journal's head file names; 0: unknown.
	Head   uint64          `json:"last_acknowledged_seq"`
	Epoch  uint64          `json:"epoch"`
	Owner  string          `json:"owner"`
	Points []flow.Identity `json:"rollback_points"` // a sound journal has exactly one
	Frozen string          `json:"frozen"`          // why the board is or will be frozen, or ""
	Newer  string          `json:"newer,omitempty"` // why only a later version may run the journal, or ""
}

// Verify reads and replays a board's journal. It changes nothing, and works also while a run writes
// the journal. Errors: those of History.
func Verify(boardPath string) (Verdict, error) {
	h, sum, err := History(boardPath, nil)
	if err != nil {
		return Verdict{}, err
	}
	dir, err := Locate(boardPath)
	v := Verdict{
		Journal:   dir.Journal(),
		Records:   sum.Records,
		Bytes:     sum.Bytes,
		TornBytes: sum.TornBytes,
		Head:      sum.Head,
		Epoch:     h.Custody.Epoch,
		Owner:     h.Custody.Owner,
		Points:    points(h),
	}
	if h.StandstillOutcome() == event.Frozen {
		v.Frozen = h.Standstill()
	}
	if h.Newer != nil {
		v.Newer = h.Newer.Error()
	}
	return v, err
}

func points(h flow.History) []flow.Identity {
	all := []flow.Identity{}
	for _, p := range h.Points {
		all = append(all, p.Identity)
	}
	return all
}
