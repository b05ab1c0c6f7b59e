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

// spam holds the bounded messages that were sent, keyed by board and subject. See subjectOf.
type spam map[string]*told

type told struct {
	times   map[string][]time.Time // times of the last hour's bounded messages, keyed by severity
	sent    map[string]bool        // keys of the bounded messages that were sent; see allows
	alerted bool                   // true from a message about a stuck agent until its recovery
}

// isBounded reports whether the number of messages about a topic is limited. Messages about such a
// topic can recur without end. Seed 002 calls the other topics critical-path.
func isBounded(t event.Topic) bool {
	return t == event.AboutStuck || t == event.AboutLoop || t == event.AboutTool
}

// allows reports whether a message about a subject may be sent now. If so, it remembers the
// message. A message about a topic without bounds may always be sent. A recovery may be sent once
// after a message about a stuck agent. Any other message must be at least a warning, may be sent
// only once, and has to keep the bounds. Each severity has bounds of its own, so that a question to
// an agent does not hold back the escalation that follows.
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
	if m.Topic == event.AboutTool { // the subject already identifies the tool
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
