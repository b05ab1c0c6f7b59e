package notify

import (
	"time"

	"kanban-run/orchestrator/event"
)

// The bounds of seed 002, "Anti-Spam Policy".
const (
	cooldown = 20 * time.Minute
	perHour  = 2
)

// spam holds the messages that were sent, by subject: a board and a task.
type spam map[string]*told

type told struct {
	times   []time.Time // of the bounded messages of the last hour
	last    string      // topic, severity and text of the last message
	alerted bool        // an alert was sent, and no recovery after it
}

// isBounded reports whether messages about a topic are bounded, because they can recur without end.
// The seed calls the other topics critical-path.
func isBounded(t event.Topic) bool {
	return t == event.AboutStuck || t == event.AboutLoop || t == event.AboutTool
}

// allows reports whether a message about a subject may be sent now. If so, it remembers the
// message. Messages about topics without bounds are always sent. For the other topics, the same
// message is not sent twice in a row, a recovery is sent once after an alert, and other messages
// are sent within the bounds.
func (s spam) allows(subject string, m Message, now time.Time) bool {
	critical := !isBounded(m.Topic)
	t := s[subject]
	if t == nil {
		t = &told{}
		s[subject] = t
	}
	key := string(m.Topic) + " " + m.Severity + " " + m.Text
	for len(t.times) > 0 && now.Sub(t.times[0]) >= time.Hour {
		t.times = t.times[1:]
	}
	recovery := m.Topic == event.AboutStuck && m.Severity == "INFO" && m.Event == "RECOVERED"
	switch {
	case key == t.last && !critical:
		return false
	case recovery && !t.alerted:
		return false
	case recovery || critical:
	case len(t.times) >= perHour || len(t.times) > 0 && now.Sub(t.times[len(t.times)-1]) < cooldown:
		return false
	}
	t.last = key
	if m.Topic == event.AboutStuck {
		t.alerted = !recovery
	}
	if !recovery && !critical {
		t.times = append(t.times, now)
	}
	return true
}
