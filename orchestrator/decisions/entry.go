package decisions

import (
	"fmt"
	"time"

	"kanban-run/orchestrator/event"
)

// Entry is a line for DECISIONS.md.
type Entry struct {
	Section Section
	Text    string
}

// EntryOf returns the entry about a journaled event. ok is false if the event is not for the team.
// The entry leaves out a supervisor's findings, which are about the design.
func EntryOf(board string, e event.Entry) (entry Entry, ok bool) {
	said := e.Event.Sentence()
	if said.For&event.Team == 0 {
		return entry, false
	}
	const most = 400
	text := said.Whole()
	if c, is := event.CheckpointOf(e.Event); is && c.Verdict != event.NoVerdict { // leave out the findings
		text = fmt.Sprintf("the supervisor blocks (score %.2f)", c.Score)
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return Entry{sectionOf(said.For), fmt.Sprintf("%s [%s, rev %d] %s %s: %s",
		e.Time.UTC().Format(time.RFC3339), board, e.Rev, e.Event.Kind(), e.Event.Subject(), text)}, true
}

// sectionOf returns the section for an event: Escalations if the Lead has to decide or mend
// something, and Notes otherwise.
func sectionOf(who event.Readers) Section {
	if who&event.Lead != 0 {
		return Escalations
	}
	return Notes
}
