package report

import (
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// describe returns the printed lines of an event. An event of weight Trace has no line.
func describe(e event.Event) []event.Sentence {
	s := e.Sentence()
	if s.Weight == event.Trace {
		return nil
	}
	return s.Lines()
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
