package page

import (
	"fmt"
	"kanban-run/orchestrator/projection"
	"slices"
	"time"
)

// scale maps times to places on an axis from 0 to 100. A time without work becomes a gap of
// gapWidth if it is longer than a minute and longer than a tenth of all work.
type scale struct {
	spans []span
}

// span is a time in which boards were worked on, with its place and width on the axis.
type span struct {
	from, to  time.Time
	at, width float64
}

// axisView is the axis: lines at round times, and the places of the gaps.
type axisView struct {
	Ticks []tickView
	Gaps  []string
	Now   string // place of the present time, or "" if no board is at work
}

type tickView struct {
	X, Text, Class string
	Odd            bool // true if a narrow screen leaves the tick out
}

const (
	gapWidth = 1.5
	leastGap = time.Minute
	maxTicks = 10
)

func newScale(boards []*projection.Board, asOf time.Time, isLive bool) scale {
	var all []span
	for i := range boards {
		for k := range boards[i].Steps {
			s := &boards[i].Steps[k]
			all = append(all, span{from: s.Began, to: s.Ended})
		}
		if boards[i].IsAtWork() {
			all = append(all, span{from: asOf, to: asOf})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	var worked time.Duration
	for _, s := range all {
		worked += max(0, s.to.Sub(s.from))
	}
	long := max(leastGap, worked/10)
	var merged []span
	for _, s := range all {
		if n := len(merged); n > 0 && s.from.Sub(merged[n-1].to) <= long {
			if s.to.After(merged[n-1].to) {
				merged[n-1].to = s.to
			}
			continue
		}
		merged = append(merged, s)
	}
	if isLive {
		addRoom(merged)
	}
	return place(merged)
}

// addRoom extends the axis on both sides to a round time, by at most a minute or an eighth of all work.
// The axis of a live page then stays as it is for many records, also where the oldest steps are left
// out, and so do the rows of the steps that are over.
func addRoom(spans []span) {
	if len(spans) == 0 {
		return
	}
	var length time.Duration
	for _, s := range spans {
		length += s.to.Sub(s.from)
	}
	part := time.Minute
	for part < length/16 {
		part *= 2
	}
	first, last := &spans[0], &spans[len(spans)-1]
	first.from, last.to = first.from.Truncate(part), last.to.Truncate(part).Add(part)
}

// place gives each span its share of the axis.
func place(spans []span) scale {
	var length time.Duration
	for _, s := range spans {
		length += s.to.Sub(s.from)
	}
	room, at := 100-gapWidth*float64(max(0, len(spans)-1)), 0.0
	for i := range spans {
		s := &spans[i]
		s.at = at
		if s.width = room / float64(len(spans)); length > 0 {
			s.width = room * float64(s.to.Sub(s.from)) / float64(length)
		}
		at += s.width + gapWidth
	}
	return scale{spans}
}

// at returns the place of a time on the axis. A time in a gap has the place where the gap begins.
func (s scale) at(t time.Time) float64 {
	place := 0.0
	for _, p := range s.spans {
		if t.Before(p.from) {
			return place
		}
		if length := p.to.Sub(p.from); !t.After(p.to) && length > 0 {
			return p.at + p.width*float64(t.Sub(p.from))/float64(length)
		}
		place = p.at + p.width
	}
	return place
}

// axis draws the scale.
func (s scale) axis(asOf time.Time, atWork bool) axisView {
	var v axisView
	var length time.Duration
	for i, p := range s.spans {
		length += p.to.Sub(p.from)
		if i > 0 {
			v.Gaps = append(v.Gaps, percent(p.at-gapWidth/2))
		}
	}
	every := tickStep(length)
	last := -100.0
	for i, p := range s.spans {
		for t := p.from.UTC().Truncate(every); !t.After(p.to); t = t.Add(every) {
			x := s.at(t)
			if t.Before(p.from) {
				continue
			}
			form := "15:04"
			if every < time.Minute {
				form = "15:04:05"
			}
			if x-last < 7 || x > 95 && atWork {
				continue
			}
			last = x
			v.Ticks = append(v.Ticks, tickView{percent(x), t.Format(form), anchorOf(x), len(v.Ticks)%3 != 0})
		}
		if len(v.Ticks) == 0 && i == 0 && !p.from.IsZero() {
			v.Ticks = append(v.Ticks, tickView{percent(p.at), p.from.UTC().Format("15:04:05"), anchorOf(p.at), false})
			last = p.at
		}
	}
	if atWork {
		v.Now = percent(s.at(asOf))
	}
	return v
}

func anchorOf(x float64) string {
	switch {
	case x < 3:
		return "start"
	case x > 97:
		return "end"
	default:
		return "middle"
	}
}

// tickStep returns a round time that divides a length into at most about maxTicks parts.
func tickStep(length time.Duration) time.Duration {
	for _, d := range []time.Duration{
		time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
		time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
		time.Hour, 3 * time.Hour, 6 * time.Hour,
	} {
		if length/d <= maxTicks {
			return d
		}
	}
	return 24 * time.Hour * max(1, (length/(24*time.Hour)+maxTicks-1)/maxTicks)
}

// percent formats a place as an attribute of SVG.
func percent(x float64) string { return fmt.Sprintf("%.2f%%", x) }
