package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/option"
)

// Zone returns the time zone that a value of the variable TZ means. It returns nil for a zone that
// package time has taken from the variable itself. A rule of POSIX, such as CET-1CEST,M3.5.0,M10.5.0/3,
// is none of these: package time takes it for UTC. Errors: *option.Error.
func Zone(tz string) (*time.Location, error) {
	tz = strings.TrimPrefix(tz, ":")
	switch {
	case tz == "":
		return nil, nil
	case filepath.IsAbs(tz):
		data, err := os.ReadFile(tz)
		if err == nil {
			_, err = time.LoadLocationFromTZData(tz, data)
		}
		if err == nil {
			return nil, nil
		}
	default:
		if _, err := time.LoadLocation(tz); err == nil {
			return nil, nil
		}
	}
	if zone := zoneOf(tz); zone != nil {
		return zone, nil
	}
	return nil, &option.Error{Text: fmt.Sprintf("TZ=%s names no time zone", tz),
		Fix: "write a name such as Europe/Berlin, or a rule such as CET-1CEST,M3.5.0,M10.5.0/3"}
}

// noZone is the abbreviation of the zone that a rule with a fault leaves in force. No zone has it,
// because an abbreviation has three characters or more.
const noZone = "?"

// zoneOf returns the time zone of a rule, or nil if the rule has a fault. It makes a file of zones
// whose last line is the rule (RFC 9636, section 3.3), and package time reads both.
func zoneOf(rule string) *time.Location {
	header := func(zones, chars byte) string {
		return "TZif2" + strings.Repeat("\x00", 15+4*4) + "\x00\x00\x00" + string(zones) + "\x00\x00\x00" + string(chars)
	}
	data := header(0, 0) + header(1, 2) + "\x00\x00\x00\x00\x00\x00" + noZone + "\x00" + "\n" + rule + "\n"
	zone, err := time.LoadLocationFromTZData(rule, []byte(data))
	if err != nil {
		return nil
	}
	winter := time.Date(2026, time.January, 1, 0, 0, 0, 0, zone)
	summer := time.Date(2026, time.July, 1, 0, 0, 0, 0, zone)
	if name, _ := winter.Zone(); name == noZone {
		return nil
	}
	// Package time does not read what follows a zone without summer time.
	if strings.Contains(rule, ",") && !winter.IsDST() && !summer.IsDST() {
		return nil
	}
	return zone
}
