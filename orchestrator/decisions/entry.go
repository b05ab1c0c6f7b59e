package decisions

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
)

// Entry is a line for the file.
type Entry struct {
	Section Section
	Text    string
}

// EntryOf returns the entry about a record; false: there is none. Of what has to do with the design
// only the operation is noted.
func EntryOf(board string, e event.Entry) (entry Entry, ok bool) {
	said := e.Event.Sentence()
	if said.For&event.Team == 0 {
		return entry, false
	}
	const most = 400
	text := strings.TrimPrefix(said.Whole(), e.Event.Kind()+": ")
	if held, is := e.Event.(event.CheckpointHeld); is { // what it found has to do with the design
		text = fmt.Sprintf("the supervisor blocks (score %.2f)", held.Data.Score)
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return Entry{sectionOf(said.For), fmt.Sprintf("%s [%s, rev %d] %s %s: %s",
		e.Time.UTC().Format(time.RFC3339), board, e.Rev, e.Event.Kind(), e.Event.Subject(), text)}, true
}

// sectionOf returns where an event is noted: what the Lead has to decide or to mend is an escalation.
func sectionOf(who event.Who) Section {
	if who&event.Lead != 0 {
		return Escalations
	}
	return Notes
}
