package config

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/option"
)

// finishPatience shortens the default waits "patience.busy" and "patience.limit" in a CI job,
// because the minutes of such a job cost money. CI services set the variable CI. If one of the two
// waits has its value from the setting "patience", finishPatience copies the origin of this setting
// to the wait.
func (r *resolver) finishPatience() error {
	if both := r.origins["patience"]; both.Source != "default" {
		for name, is := range map[string]time.Duration{"patience.busy": r.settings.Limits.Patience.Busy, "patience.limit": r.settings.Limits.Patience.Limit} {
			if said, err := option.ParseDuration(r.origins[name].Value); err == nil && said != is {
				r.origins[name] = Origin{name, both.Value, both.Source}
			}
		}
	}
	if ci := strings.ToLower(r.lookupVariable("CI")); ci == "" || ci == "false" || ci == "0" {
		return nil
	}
	for _, g := range []given{{name: "patience.busy", value: "2m"}, {name: "patience.limit", value: "0"}} {
		if r.origins[g.name].Source != "default" || r.origins["patience"].Source != "default" {
			continue
		}
		g.source = "variable CI"
		if err := r.set(g); err != nil {
			return err
		}
		r.recordOrigin(g)
	}
	return nil
}

// checkClock refuses a time of day if the variable TZ does not tell in which zone it is meant.
func (r *resolver) checkClock(text string) error {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	_, err := Zone(r.lookupVariable("TZ"))
	return err
}

// parseClock parses a time in RFC 3339, or a time of day. A time of day means the next such time
// after now, in local time.
func parseClock(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	clock, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, &option.Error{Text: fmt.Sprintf("%q is no time", text), Fix: "write 07:00, or a whole time such as 2026-01-31T07:00:00Z"}
	}
	year, month, day := now.Local().Date()
	at := time.Date(year, month, day, clock.Hour(), clock.Minute(), 0, 0, time.Local)
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at, nil
}
