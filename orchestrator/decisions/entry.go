package decisions

import (
	"fmt"
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
	section, text := Escalations, ""
	switch ev := e.Event.(type) {
	case event.LoopSuspected:
		text = ev.Suspicion.String()
	case event.RebootTested:
		if ev.Decision != event.Stuck {
			return entry, false
		}
		text = ev.Text
	case event.ToolUnavailable:
		if ev.Agents != event.SystemicAgents {
			return entry, false
		}
		text = fmt.Sprintf("%s is missing for %d agents: %s", ev.Tool, ev.Agents, ev.Reason)
	case event.ReplyAccepted:
		if ev.Call != event.TaskCall || ev.Status != "escalate" {
			return entry, false
		}
		text = fmt.Sprintf("%s escalates: %s", ev.Role, ev.Message)
	case event.CheckpointHeld:
		if ev.Data.Verdict != "block" {
			return entry, false
		}
		text = fmt.Sprintf("the supervisor blocks (score %.2f)", ev.Data.Score)
	case event.ReassignProposed:
		text = fmt.Sprintf("%s for %s: %s", ev.Strategy, ev.Role, ev.Evidence)
	case event.RunFinished:
		if ev.Outcome == event.Complete || ev.Outcome == event.LimitReached {
			return entry, false
		}
		text = fmt.Sprintf("%s: %s", ev.Outcome, ev.Text)
	case event.Reassigned:
		section, text = Notes, fmt.Sprintf("%s took the work of %s over", ev.To, ev.Role)
	case event.QuarantineEnded:
		section, text = Notes, ev.Reason
	case event.StateDiverged:
		section, text = Notes, ev.Text
	case event.DuplicateTask:
		section, text = Notes, "worked on by the run of "+ev.Owner
	case event.ScopeOverlaps:
		section, text = Notes, fmt.Sprintf("the same files as %s of %s", ev.OwnerTask, ev.Owner)
	default:
		return entry, false
	}
	const most = 400
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return Entry{section, fmt.Sprintf("%s [%s, rev %d] %s %s: %s", e.Time.UTC().Format(time.RFC3339), board, e.Rev, e.Event.Kind(), e.Event.Subject(), text)}, true
}
