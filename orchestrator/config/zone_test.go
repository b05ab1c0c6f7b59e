package config

import (
	"testing"
	"time"
)

// TestZoneOfARule: TZ may be a rule of POSIX, whose zone changes in spring and in autumn, and may lie at any offset.
func TestZoneOfARule(t *testing.T) {
	for _, tt := range []struct{ tz, at, want string }{
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2026-01-31T06:00:00Z", "07:00 CET"},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", "01:59 CET"},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", "03:00 CEST"},
		{":CET-1CEST,M3.5.0,M10.5.0/3", "2030-10-27T01:00:00Z", "02:00 CET"},
		{"<+07>-7", "2026-07-01T00:00:00Z", "07:00 +07"},
		{"UTC+3", "2026-07-01T12:00:00Z", "09:00 UTC"},
		{"NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-01-01T00:00:00Z", "13:00 NZDT"},
		{"<-0330>3:30", "2026-01-01T12:00:00Z", "08:30 -0330"},
	} {
		zone, err := Zone(tt.tz)
		if err != nil || zone == nil {
			t.Errorf("Zone(%q) = %v, %v", tt.tz, zone, err)
			continue
		}
		at, _ := time.Parse(time.RFC3339, tt.at)
		if got := at.In(zone).Format("15:04 MST"); got != tt.want {
			t.Errorf("in %s it is %s, want %s", tt.tz, got, tt.want)
		}
	}
}

// TestZoneByName: what package time finds is left to it, and a slip is an error, also one in a rule.
func TestZoneByName(t *testing.T) {
	for tz, slip := range map[string]bool{
		"": false, ":": false, "UTC": false, "Europe/Berlin": false, ":Europe/Berlin": false, "EST5EDT": false,
		"Europe/Berln": true, "/no/such/file": true, "CET-1CEST,M13.5.0,M10.5.0/3": true, "CET-1CEST,M3.5.0": true,
		"CET-1CEST,M3.5.0,M10.5.0/3x": true, "CET-1,M3.5.0,M10.5.0/3": true, "C-1": true, "<+07-7": true, "CET": false, "MYZONE": true,
	} {
		if zone, err := Zone(tz); zone != nil || (err != nil) != slip {
			t.Errorf("Zone(%q) = %v, %v", tz, zone, err)
		}
	}
}
