package report

import (
	"slices"
	"sync"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// describer makes the printed lines of events. It is safe for concurrent use.
type describer struct {
	said sync.Map // lines below the begin of a run; the boards of a command have most of them in common
}

// describe returns the lines of an event. An event of weight Trace has no line. A line below the begin
// of a run is said once.
func (d *describer) describe(e event.Event) []event.Sentence {
	s := e.Sentence()
	if s.Weight == event.Trace {
		return nil
	}
	lines := s.Lines()
	if s.Edge == event.OpensRun {
		lines = append(lines[:1], slices.DeleteFunc(lines[1:], func(l event.Sentence) bool {
			_, known := d.said.LoadOrStore(l.Text, true)
			return known
		})...)
	}
	return lines
}

// colors of signs, by weight.
var signColors = map[event.Weight]string{event.Success: "\x1b[32m", event.Warning: "\x1b[33m", event.Critical: "\x1b[31m"}

// coloredSign returns the character that stands before a line of weight w.
func coloredSign(w event.Weight, color bool) string {
	sign, code := projection.SignOf(w), signColors[w]
	if color && code != "" {
		return code + sign + "\x1b[0m"
	}
	return sign
}
