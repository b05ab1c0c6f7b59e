package report

import (
	"kanban-run/orchestrator/event"
)

// mark is how a line is shown: its sign and colour.
type mark int

const (
	calm mark = iota
	good
	warn
	bad
	begun // left out where a live line shows it
)

// line is one line about an event.
type line struct {
	mark mark
	text string
}

// marks are those of the weights of sentences.
var marks = map[event.Weight]mark{event.Routine: begun, event.Note: calm, event.Success: good, event.Warning: warn, event.Critical: bad}

// describe renders an event for a person. What only explains gives no line.
func describe(e event.Event) []line {
	s := e.Sentence()
	if s.Weight == event.Trace {
		return nil
	}
	lines := []line{{marks[s.Weight], s.String()}}
	for _, more := range s.More {
		lines = append(lines, line{marks[more.Weight], more.String()})
	}
	return lines
}

// session names the session in which the agent's tool would go on, "" where it does not tell.
func session(e event.Event) string {
	switch e := e.(type) {
	case event.ReplyAccepted:
		return e.Session
	case event.ReplyRejected:
		return e.Session
	case event.AttemptStopped:
		return e.Session
	default:
		return ""
	}
}
