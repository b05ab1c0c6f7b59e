package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// Table returns the lines of a table of boards, and a last line with totals. A row has a sign, the
// board, the action that a person has to take, the time at which the last run ended, the cost, and
// a text about how the board stands. If the screen is narrower than the constant wide, this text
// follows on lines of its own. If the parameter most is not 0 and there would be more lines than that,
// the texts are cut to a line, and then rows are left out: first those of boards that need nobody, then
// those that only have to be run again. Boards that need a person or are at work stay.
func (s Screen) Table(boards []*projection.Board, most int) []string {
	sorted := slices.Clone(boards)
	slices.SortStableFunc(sorted, func(a, b *projection.Board) int {
		return cmp.Or(projection.Compare(a, b), cmp.Compare(a.Board, b.Board))
	})
	sum := Wrap(totals(sorted), s.Width)
	rows := s.rows(sorted, false)
	if most > 0 && len(slices.Concat(rows...))+len(sum) > most {
		rows = s.rows(sorted, true)
	}
	var lines []string
	left := 0
	for i, row := range rows {
		if stays := sorted[i].Who.AsksPerson() || sorted[i].IsAtWork(); most > 0 && !stays && len(lines)+len(row)+1+len(sum) > most {
			left++
			continue
		}
		lines = append(lines, row...)
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("  and %s more that wait for nobody", event.Count(left, "board")))
	}
	return append(lines, sum...)
}

// Again returns a line for each command that runs boards again. A line is whole, so that it can be copied.
func (s Screen) Again(boards []*projection.Board) (lines []string) {
	for _, again := range projection.CommandsAgain(boards) {
		lines = append(lines, s.Out.Sprintf("run again: %s", again.Text()))
	}
	return lines
}

// rows returns the lines of each board. If brief is true, a text is cut to a line.
func (s Screen) rows(boards []*projection.Board, brief bool) (rows [][]string) {
	cells := make([][]string, len(boards))
	for i, b := range boards {
		cost := b.Totals.Used.Money()
		if b.Totals.Used.Priced == 0 {
			cost = "—"
		}
		cells[i] = []string{s.Out.Sprintf("%s", b.Board), b.Who.Words(), ended(b.Ended, s.Now), cost}
	}
	heads := columns(cells, map[int]bool{3: true}, math.MaxInt)
	indent := 0
	for _, h := range heads {
		indent = max(indent, runewidth.StringWidth("x "+h+"  "))
	}
	below := s.Width > 0 && s.Width < wide
	if below {
		indent = 2 * restIndent
	}
	for i, b := range boards {
		head := coloredSign(b.Weight, s.Color) + " " + heads[i]
		text := Wrap(s.Out.Sprintf("%s", s.whole(b)), max(0, s.Width-indent))
		if brief && len(text) > 1 {
			text = []string{cut(strings.Join(text, " "), s.Width-indent)}
		}
		var lines []string
		if below {
			lines = append(lines, head)
		} else {
			pad := strings.Repeat(" ", indent-runewidth.StringWidth("x "+heads[i]))
			lines, text = append(lines, head+pad+text[0]), text[1:]
		}
		for _, l := range text {
			lines = append(lines, strings.Repeat(" ", indent)+l)
		}
		rows = append(rows, lines)
	}
	return rows
}

// whole returns the text about how a board stands. Of a board at work it says who works on which task, since
// when and how. It adds the words of an agent that explain why a person is needed.
func (s Screen) whole(b *projection.Board) string {
	if doing := s.atWork(b); b.State == projection.Running && doing != nil {
		return fmt.Sprintf("%s, %s: %s; %s", b.Open.Task, b.Open.Ref().Short(), strings.Join(doing, " · "), b.Progress())
	}
	text := b.What()
	if t := b.Unquoted(); t != nil {
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
func totals(boards []*projection.Board) string {
	var used event.Used
	complete, atWork, queued := 0, 0, 0
	without := map[string]int{} // boards without a run here
	who := map[projection.Who]int{}
	for _, s := range boards {
		who[s.Who]++
		used = used.Plus(s.Totals.Used.Used)
		switch {
		case s.IsAtWork():
			atWork++
		case s.State == projection.Queued:
			queued++
		case s.State == projection.NeverRun && s.Who == projection.Nobody:
			without[s.EndWords()]++
		case s.Outcome == event.Complete && s.Who == projection.Nobody:
			complete++
		}
	}
	parts := []string{fmt.Sprintf("%d of %d boards complete", complete, len(boards))}
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{who[projection.Decide] + who[projection.Mend], "needs you", "need you"},
		{who[projection.RunAgain], "only has to be run again", "only have to be run again"},
		{atWork, "at work", "at work"},
		{queued, "queued", "queued"},
		{without["never run"], "never run", "never run"},
		{without["archived"], "archived", "archived"},
		{without["done"], "done without a run here", "done without a run here"},
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
	if landed := projection.LandingTotals(boards); landed != "" {
		text += "; " + landed
	}
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
