package agent_test

import (
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
)

// TestParseReset: the forms in which claude, codex, gemini and their providers write the end of a limit.
func TestParseReset(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("this machine knows no time zones: ", err)
	}
	at := func(day, hour, minute int) time.Time {
		return time.Date(2026, time.November, day, hour, minute, 0, 0, time.Local)
	}
	now := at(21, 14, 30).Add(20 * time.Second) // a Saturday
	for text, want := range map[string]time.Time{
		"try again at 7:55 PM.":                   at(21, 19, 55),
		"or try again at 12:05 AM.":               at(22, 0, 5),
		"try again at 2:30 PM.":                   at(21, 14, 30),
		"try again at 2:29 PM.":                   at(22, 14, 29),
		"try again at Nov 24th, 2026 7:55 PM.":    at(24, 19, 55),
		"try again at Nov 1st, 2026 1:00 AM.":     at(1, 1, 0),
		"try again at 7:55\u202fPM.":              at(21, 19, 55),
		"try again later.":                        {},
		"try again at 25:00 PM.":                  {},
		"try again at Xyz 40th, 2026 7:55 PM.":    {},
		"You’ve hit your usage limit. at 7:55 PM": {},

		"You've hit your session limit · resets 3:30am (America/New_York)":   time.Date(2026, 11, 22, 3, 30, 0, 0, newYork),
		"You've hit your session limit · resets 11pm":                        at(21, 23, 0),
		"You've hit your weekly limit · resets Nov 26, 3pm":                  at(26, 15, 0),
		"You've hit your weekly limit · resets Jan 2 at 3pm":                 time.Date(2027, 1, 2, 15, 0, 0, 0, time.Local),
		"weekly limit · resets Thu 9:00am":                                   at(26, 9, 0),
		"weekly limit · resets Sat 9:00am":                                   at(28, 9, 0),
		"You've hit your limit · resets Feb 14, 2027, 5am (UTC)":             time.Date(2027, 2, 14, 5, 0, 0, 0, time.UTC),
		"You will regain access on 2026-12-01 at 00:00 UTC.":                 time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		"Access resets at 8:15 AM UTC.":                                      time.Date(2026, 11, 22, 8, 15, 0, 0, time.UTC),
		"session limit · resets 3am (Mars/Olympus)":                          {},
		"Claude AI usage limit reached|1764150000":                           time.Unix(1764150000, 0),
		"try again in 3 days 2 hours 5 minutes.":                             now.Add(74*time.Hour + 5*time.Minute),
		"Rate limit reached for gpt-x. Please try again in 11.5s. Visit us.": now.Add(11500 * time.Millisecond),
		"Please try again in 1m2.5s.":                                        now.Add(62500 * time.Millisecond),
		"Please retry in 250ms":                                              now.Add(250 * time.Millisecond),
		"Your quota will reset after 3h20m10s.":                              now.Add(3*time.Hour + 20*time.Minute + 10*time.Second),
		"retry after 30 seconds":                                             now.Add(30 * time.Second),
		"retry in a moment":                                                  {},
	} {
		if got := agent.ParseReset(text, now); !got.Equal(want) {
			t.Errorf("ParseReset(%q) = %v, want %v", text, got, want)
		}
	}
}
