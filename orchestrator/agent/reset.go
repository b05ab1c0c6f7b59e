package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The forms in which tools and providers write the end of a limit.
var (
	// resetStamp matches a time in seconds since 1970: "usage limit reached|1764150000".
	resetStamp = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`limit reached\|(\d{10})\b`) })
	// resetClock matches a local time, with or without its day and its zone: "resets 3:30am
	// (America/New_York)", "try again at Nov 24th, 2026 7:55 PM".
	resetClock = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:resets?|try again)(?: at| on)? ` +
			`(?:(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?:at )?|([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?` +
			`(\d{1,2})(?::(\d{2}))? ?([ap]m)\b(?: \(?(UTC|GMT|[A-Za-z_]+(?:/[A-Za-z_+\-0-9]+)+)\)?)?`)
	})
	// resetDate matches a date and a time in UTC: "regain access on 2026-12-01 at 00:00 UTC".
	resetDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)regain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC`)
	})
	// resetSpan matches the time until the end of the limit: "try again in 3 days 2 hours", "reset
	// after 3h20m10s", "retry in 11.05s".
	resetSpan = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:try again|retry|retrying|resets?)(?: in| after)[: ]+(?:about )?((?:\d+(?:\.\d+)? ?[a-z]+[, ]*)+)`)
	})
	spanPart = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(ms|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[dhms])`)
	})
)

// ParseReset returns the end of a limit that a text names, or the zero time. If the text names a
// time of day but no day, ParseReset returns the next moment at which the clock shows that time. If
// the text names no zone, the time is in the zone of this machine.
func ParseReset(text string, now time.Time) time.Time {
	text = strings.ReplaceAll(text, "\u202f", " ") // some tools write this space before AM
	if m := resetStamp().FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // never fails for ten digits
		return time.Unix(seconds, 0).UTC()
	}
	if m := resetDate().FindStringSubmatch(text); m != nil {
		at, _ := time.Parse("2006-01-02 15:04", m[1]+" "+m[2]) // zero if there is no such date
		return at
	}
	if m := resetClock().FindStringSubmatch(text); m != nil {
		return clockTime(m, now)
	}
	if m := resetSpan().FindStringSubmatch(text); m != nil {
		if d := parseSpan(m[1]); d > 0 {
			return now.Add(d)
		}
	}
	return time.Time{}
}

// clockTime returns the time that a match of resetClock names, or the zero time if there is no such
// time.
func clockTime(m []string, now time.Time) time.Time {
	weekday, month, day, year, hour, minute, half, zone := m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]
	place := time.Local
	if zone != "" {
		var err error
		if place, err = time.LoadLocation(zone); err != nil {
			return time.Time{}
		}
	}
	if minute == "" {
		minute = "00"
	}
	clock, err := time.Parse("3:04 PM", hour+":"+minute+" "+strings.ToUpper(half))
	if err != nil {
		return time.Time{}
	}
	now = now.In(place)
	at := func(y int, mo time.Month, d int) time.Time {
		return time.Date(y, mo, d, clock.Hour(), clock.Minute(), 0, 0, place)
	}
	next := at(now.Date())
	if month != "" {
		named, err := time.Parse("Jan 2", strings.ToUpper(month[:1])+strings.ToLower(month[1:])+" "+day)
		if err != nil {
			return time.Time{}
		}
		y := now.Year()
		if year != "" {
			y, _ = strconv.Atoi(year) // never fails for four digits
		}
		next = at(y, named.Month(), named.Day())
		if year == "" && next.Before(now.AddDate(0, -6, 0)) {
			next = next.AddDate(1, 0, 0)
		}
		return next
	}
	for next.Before(now.Truncate(time.Minute)) || weekday != "" && !strings.EqualFold(next.Weekday().String()[:3], weekday) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// parseSpan parses a span of time such as "3 days 2 hours" or "3h20m10s".
func parseSpan(text string) (sum time.Duration) {
	units := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}
	for _, m := range spanPart().FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		unit := units[strings.ToLower(m[2])[0]]
		if strings.EqualFold(m[2], "ms") {
			unit = time.Millisecond
		}
		if err == nil {
			sum += time.Duration(n * float64(unit))
		}
	}
	return sum
}
