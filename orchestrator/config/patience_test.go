package config

import (
	"strings"
	"testing"
	"time"
)

// TestPatience: a service that runs jobs sets CI, and its minutes cost money. What a person sets counts before that.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		name, file  string
		environ     []string
		flag        string
		busy, limit time.Duration
	}{
		{"of itself", "", nil, "", time.Hour, 6 * time.Hour},
		{"in a job", "", []string{"CI=true"}, "", 2 * time.Minute, 0},
		{"CI is off", "", []string{"CI=false"}, "", time.Hour, 6 * time.Hour},
		{"one of both in a job", "patience: {busy: 7m}\n", []string{"CI=1"}, "", 7 * time.Minute, 0},
		{"both in a job", "patience: 3m\n", []string{"CI=1"}, "", 3 * time.Minute, 3 * time.Minute},
		{"by variables", "patience: 3m\n", []string{"KANBAN_RUN_PATIENCE=1m", "KANBAN_RUN_PATIENCE_LIMIT=9h"}, "", time.Minute, 9 * time.Hour},
		{"by a flag", "patience: {busy: 7m, limit: 8m}\n", []string{"CI=1", "KANBAN_RUN_PATIENCE_BUSY=1m"}, "0", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flags := map[string][]string{}
			if tt.flag != "" {
				flags["patience"] = []string{tt.flag}
			}
			s, origins := load(t, in(t, tt.file, tt.environ, flags))
			if s.Limits.Patience.Busy != tt.busy || s.Limits.Patience.Limit != tt.limit {
				t.Errorf("patience = %v, %v, want %v, %v", s.Limits.Patience.Busy, s.Limits.Patience.Limit, tt.busy, tt.limit)
			}
			for _, o := range origins {
				is := map[string]time.Duration{"patience.busy": tt.busy, "patience.limit": tt.limit}
				if want, ok := is[o.Name]; ok && map[time.Duration]string{0: "0", time.Minute: "1m", 2 * time.Minute: "2m", 3 * time.Minute: "3m",
					7 * time.Minute: "7m", time.Hour: "1h", 6 * time.Hour: "6h", 9 * time.Hour: "9h"}[want] != o.Value {
					t.Errorf("%s is shown as %s (%s), want %v", o.Name, o.Value, o.Source, want)
				}
			}
		})
	}
}

// TestUntil: a time of the day is the next one, in local time.
func TestUntil(t *testing.T) {
	at := func(day, hour, minute int) time.Time {
		return time.Date(2026, time.November, day, hour, minute, 0, 0, time.Local)
	}
	now := at(25, 22, 30)
	for text, want := range map[string]time.Time{
		"07:00":                     at(26, 7, 0),
		"7:00":                      at(26, 7, 0),
		"22:30":                     at(26, 22, 30),
		"22:31":                     at(25, 22, 31),
		"2026-11-27T07:00:00+01:00": time.Date(2026, time.November, 27, 6, 0, 0, 0, time.UTC),
	} {
		if got, err := parseClock(text, now); err != nil || !got.Equal(want) {
			t.Errorf("parseClock(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "25:00", "tomorrow", "8h"} {
		if got, err := parseClock(text, now); err == nil || !strings.Contains(err.Error(), "is no time") {
			t.Errorf("parseClock(%q) = %v, %v, want an error", text, got, err)
		}
	}
}

// TestUntilInNoZone: a time of day means nothing where TZ has a slip, and a whole time does.
func TestUntilInNoZone(t *testing.T) {
	for _, tt := range []struct {
		tz, until string
		refused   bool
	}{
		{"Europe/Berln", "07:00", true},
		{"Europe/Berln", "2026-01-31T07:00:00Z", false},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "07:00", false},
	} {
		_, _, err := Load(Input{Environ: []string{"TZ=" + tt.tz, "KANBAN_RUN_UNTIL=" + tt.until}})
		if refused := err != nil && strings.Contains(err.Error(), "names no time zone"); refused != tt.refused {
			t.Errorf("TZ=%s, until %s: %v", tt.tz, tt.until, err)
		}
	}
}
