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

// EntryOf is what is to be noted of a record; false: nothing is. Of what has to do with the design
// only the operation is noted.
func EntryOf(board string, e event.Entry) (entry Entry, ok bool) {
	section, ok := sectionOf(e.Event)
	if !ok {
		return entry, false
	}
	const most = 400
	text := strings.TrimPrefix(e.Event.Sentence().Whole(), e.Event.Kind()+": ")
	if held, is := e.Event.(event.CheckpointHeld); is { // what it found has to do with the design
		text = fmt.Sprintf("the supervisor blocks (score %.2f)", held.Data.Score)
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return Entry{section, fmt.Sprintf("%s [%s, rev %d] %s %s: %s", e.Time.UTC().Format(time.RFC3339), board, e.Rev, e.Event.Kind(), e.Event.Subject(), text)}, true
}

// sectionOf is where an event is noted; false: nowhere.
func sectionOf(e event.Event) (Section, bool) {
	switch e := e.(type) {
	case event.LoopSuspected, event.ReassignProposed:
		return Escalations, true
	case event.RebootTested:
		return Escalations, e.Decision == event.Stuck
	case event.ToolUnavailable:
		return Escalations, e.Agents == event.SystemicAgents
	case event.ReplyAccepted:
		return Escalations, e.Call == event.TaskCall && e.Status == "escalate"
	case event.CheckpointHeld:
		return Escalations, e.Data.Verdict == "block"
	case event.RunFinished:
		return Escalations, e.Outcome != event.Complete && e.Outcome != event.LimitReached
	case event.Reassigned, event.QuarantineEnded, event.StateDiverged, event.DuplicateTask, event.ScopeOverlaps:
		return Notes, true
	default:
		return "", false
	}
}
