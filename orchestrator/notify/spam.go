package notify

import "time"

// The bounds of seed 002, "Anti-Spam Policy".
const (
	cooldown = 20 * time.Minute
	perHour  = 2
)

// spam is what was told of each subject.
type spam map[string]*told

type told struct {
	times   []time.Time // in the last hour
	last    string      // topic, severity and text of the last one
	alerted bool        // an alert was told, and no recovery
}

// allows says whether a message about a subject may be sent now, and notes it: nothing
// identical twice, a recovery only behind an alert and once, and no more than the bounds. What
// is critical is told in any case.
func (s spam) allows(subject string, m Message, critical bool, now time.Time) bool {
	t := s[subject]
	if t == nil {
		t = &told{}
		s[subject] = t
	}
	key := string(m.Topic) + " " + m.Severity + " " + m.Text
	for len(t.times) > 0 && now.Sub(t.times[0]) >= time.Hour {
		t.times = t.times[1:]
	}
	recovery := m.Topic == Stuck && m.Severity == "INFO" && m.Event == "RECOVERED"
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
	if m.Topic == Stuck {
		t.alerted = !recovery
	}
	if !recovery && !critical {
		t.times = append(t.times, now)
	}
	return true
}
