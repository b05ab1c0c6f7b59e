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

// spam holds the messages that were sent, by subject: a board and a task, or a board and a missing tool.
type spam map[string]*told

type told struct {
	times   map[string][]time.Time // of the bounded messages of the last hour, by their severity
	sent    map[string]bool        // the bounded messages that were sent: severity and text
	alerted bool                   // an alert was sent, and no recovery after it
}

// isBounded reports whether messages about a topic are bounded, because they can recur without end.
// The seed calls the other topics critical-path.
func isBounded(t event.Topic) bool {
	return t == event.AboutStuck || t == event.AboutLoop || t == event.AboutTool
}

// allows reports whether a message about a subject may be sent now. If so, it remembers the
// message. Messages about topics without bounds are always sent. For the other topics, no message is
// sent twice, a recovery is sent once after an alert, and others are sent within the bounds. These count
// for each severity, so that a question to an agent does not swallow the escalation behind it. What
// weighs less than a warning is not sent.
func (s spam) allows(subject string, m Message, now time.Time) bool {
	if !isBounded(m.Topic) {
		return true
	}
	t := s[subject]
	if t == nil {
		t = &told{times: map[string][]time.Time{}, sent: map[string]bool{}}
		s[subject] = t
	}
	if m.Event == "RECOVERED" {
		sends := t.alerted
		t.alerted = false
		return sends
	}
	key, times := m.Severity+" "+m.Text, t.times[m.Severity]
	if m.Topic == event.AboutTool { // its subject says all
		key = m.Severity
	}
	for len(times) > 0 && now.Sub(times[0]) >= time.Hour {
		times = times[1:]
	}
	switch {
	case m.Severity == event.AlertInfo, t.sent[key], len(times) >= perHour,
		len(times) > 0 && now.Sub(times[len(times)-1]) < cooldown:
		return false
	}
	t.sent[key], t.times[m.Severity] = true, append(times, now)
	t.alerted = t.alerted || m.Topic == event.AboutStuck
	return true
}
