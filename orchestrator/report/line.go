package report

import (
	"kanban-run/orchestrator/event"
)

// describe returns the printed lines of an event. An event of weight Trace has no line.
func describe(e event.Event) []event.Sentence {
	s := e.Sentence()
	if s.Weight == event.Trace {
		return nil
	}
	return s.Lines()
}

// coloredSign returns the character that stands before a line of weight w.
func coloredSign(w event.Weight, color bool) string {
	sign, code := " ", ""
	switch w {
	case event.Success:
		sign, code = "✓", "\x1b[32m"
	case event.Warning:
		sign, code = "!", "\x1b[33m"
	case event.Critical:
		sign, code = "✗", "\x1b[31m"
	case event.Routine:
		sign = "▸"
	}
	if color && code != "" {
		return code + sign + "\x1b[0m"
	}
	return sign
}
