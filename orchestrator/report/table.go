package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/standing"
)

// ranks is the order of the boards in a table. The boards that need a person come first.
var ranks = []standing.Who{standing.Decide, standing.Mend, standing.RunAgain, standing.Nobody}

// Table returns the lines of a table of boards, and a last line with totals. A row has a sign, the
// board, the action that a person has to take, the time at which the last run ended, the cost, and
// a text about the standing. If the width is less than the constant wide, this text follows on
// lines of its own. A width of 0 means that lines have no limit.
func Table(out *console.Printer, boards []*standing.Standing, at time.Time, width int, color bool) []string {
	sorted := slices.Clone(boards)
	slices.SortStableFunc(sorted, func(a, b *standing.Standing) int {
		return cmp.Or(cmp.Compare(slices.Index(ranks, a.Who()), slices.Index(ranks, b.Who())),
			cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Board, b.Board))
	})
	cells := make([][]string, len(sorted))
	for i, s := range sorted {
		cost := s.Used.Money()
		if s.Used.Priced == 0 {
			cost = "—"
		}
		cells[i] = []string{out.Sprintf("%s", s.Board), string(s.Who()), ended(s.Ended, at), cost}
	}
	heads := columns(cells, map[int]bool{3: true}, math.MaxInt)
	indent := 0
	for _, h := range heads {
		indent = max(indent, runewidth.StringWidth("x "+h+"  "))
	}
	below := width > 0 && width < wide
	if below {
		indent = len("    ")
	}
	var lines []string
	for i, s := range sorted {
		head := coloredSign(s.Weight, color) + " " + heads[i]
		text := Wrap(out.Sprintf("%s", whole(s)), max(0, width-indent))
		if below {
			lines = append(lines, head)
		} else {
			pad := strings.Repeat(" ", indent-runewidth.StringWidth("x "+heads[i]))
			lines, text = append(lines, head+pad+text[0]), text[1:]
		}
		for _, l := range text {
			lines = append(lines, strings.Repeat(" ", indent)+l)
		}
	}
	return append(lines, totals(sorted))
}

// whole returns the text about a board's standing. It adds the words of an agent that explain why a
// person is needed.
func whole(s *standing.Standing) string {
	text := s.What()
	if t := s.Said(); t != nil && !strings.Contains(text, t.Said) {
		text += fmt.Sprintf(" (%s said: %s)", t.Role, event.Brief(t.Said))
	}
	return text
}

// ended returns the time at which a run ended. It adds the day if the run did not end today.
func ended(end, now time.Time) string {
	switch end, now = end.Local(), now.Local(); {
	case end.IsZero():
		return ""
	case end.Format(time.DateOnly) == now.Format(time.DateOnly):
		return end.Format("15:04")
	default:
		return end.Format("Jan _2 15:04")
	}
}

// totals returns the numbers of boards that are complete, need a person, have to be run again, are
// at work, or were never run. The total cost follows.
func totals(boards []*standing.Standing) string {
	var used event.Used
	complete, atWork, never := 0, 0, 0
	who := map[standing.Who]int{}
	for _, s := range boards {
		who[s.Who()]++
		used = used.Plus(s.Used)
		switch s.Outcome {
		case event.Complete:
			complete++
		case standing.Running:
			atWork++
		case standing.NeverRun:
			never++
		}
	}
	parts := []string{fmt.Sprintf("%d of %d boards complete", complete, len(boards))}
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{who[standing.Decide] + who[standing.Mend], "needs you", "need you"},
		{who[standing.RunAgain], "only has to be run again", "only have to be run again"},
		{atWork, "at work", "at work"},
		{never, "never run", "never run"},
	} {
		switch p.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+p.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.many))
		}
	}
	text := strings.Join(parts, ", ")
	if spent := used.String(); spent != "" {
		text += "; " + spent
	}
	return text
}

// Wrap breaks a text between words into lines of at most width columns. A width of 0 means that the
// text stays whole.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case runewidth.StringWidth(line)+1+runewidth.StringWidth(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
