package projection

import (
	"time"

	"kanban-run/orchestrator/event"
)

// Sign is an observation or an action of the watch about a running attempt (seed 000).
type Sign struct {
	Time time.Time  `json:"time"`
	Kind event.Sign `json:"kind"`
	Text string     `json:"text"`
}

const mostSigns = 100

// addSign adds the sign of an entry to the last attempt, which keeps at most mostSigns. It does
// nothing if the entry has no sign.
func (s *Step) addSign(e event.Entry, said event.Sentence) {
	kind := event.SignOf(e.Event)
	if a := s.Last(); kind != "" && a != nil && len(a.Watched) < mostSigns {
		a.Watched = append(a.Watched, Sign{e.Time, kind, cut(said.Whole())})
	}
}
