package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/projection"
)

// Live is an observer that shows the boards at work at the bottom of a terminal, and permanent
// lines above. It is safe for concurrent use; Close removes the live lines.
type Live struct {
	mu     sync.Mutex
	out    *console.Printer
	size   func() (width, height int)
	now    func() time.Time
	color  bool
	names  bool
	boards []*liveBoard
	order  []string // names of the boards, in the order of the command line
	ends   struct{ complete, waiting int }
	drawn  []int // widths of the live lines on the screen now, in columns
	last   time.Time
	done   chan struct{}
	lines  describer
	idle   sync.WaitGroup
}

// liveBoard is a board at work, and the trace of its agent.
type liveBoard struct {
	name  string
	fold  projection.Fold
	trace *health.Trace // nil while no agent is at work
}

var colors = regexp.MustCompile("\x1b\\[[0-9]+m")

// redrawEvery is the least time between two redraws that the activity of agents causes.
const redrawEvery = 100 * time.Millisecond

// NewLive returns an observer that draws on the terminal of the printer out. The function size
// returns the size of the terminal in columns and rows. A clock redraws the live lines once a
// second. The lines of the boards have the order of the parameter boards.
func NewLive(out *console.Printer, size func() (width, height int), color bool, boards []string) *Live {
	l := &Live{
		out:   out,
		size:  size,
		now:   time.Now,
		color: color,
		names: len(boards) > 1,
		order: boards,
		done:  make(chan struct{}),
	}
	l.idle.Go(l.tick)
	return l
}

func (l *Live) tick() {
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	for {
		select {
		case <-clock.C:
			l.mu.Lock()
			l.draw(nil)
			l.mu.Unlock()
		case <-l.done:
			return
		}
	}
}

// Close removes the live lines and stops the clock.
func (l *Live) Close() {
	close(l.done)
	l.idle.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boards = nil
	l.draw(nil)
}

// Entry updates the board's live line. It also prints the lines of the event above the live lines,
// except routine lines.
func (l *Live) Entry(board string, e event.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.update(board, e)
	var stay []string
	for _, line := range l.lines.describe(e.Event) {
		if line.Weight != event.Routine {
			stay = append(stay, l.permanent(board, line))
		}
	}
	l.draw(stay)
}

// Agent shows the agent's activity in the live line.
func (l *Live) Agent(board string, s agent.Sign) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.find(board); b != nil && b.trace != nil {
		b.trace.Note(s.Event)
	}
	if l.now().Sub(l.last) >= redrawEvery {
		l.draw(nil)
	}
}

// Notice prints a warning.
func (l *Live) Notice(board, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	warning := event.Sentence{Weight: event.Warning, Text: "warning: " + text}
	l.draw([]string{l.permanent(board, warning)})
}

func (l *Live) find(board string) *liveBoard {
	for _, b := range l.boards {
		if b.name == board {
			return b
		}
	}
	return nil
}

// update folds an event into the state of its board. The row of a board stands from the begin of its run
// to the end.
func (l *Live) update(board string, e event.Entry) {
	b := l.find(board)
	if b == nil {
		b = &liveBoard{name: board, fold: projection.Fold{Keep: projection.Keep{Steps: 1}}}
		l.boards = append(l.boards, b)
		slices.SortStableFunc(l.boards, func(a, b *liveBoard) int {
			return cmp.Compare(slices.Index(l.order, a.name), slices.Index(l.order, b.name))
		})
	}
	was := b.fold.Now
	b.fold.Add(e)
	if outcome, ended := b.fold.Outcome(); ended {
		l.end(b, outcome)
		return
	}
	switch now := b.fold.Now; {
	case now.Health == "":
		b.trace = nil
	case now.Ref != was.Ref || was.Health == "":
		b.trace = health.NewTrace(l.now())
	}
}

// end removes the row of a board whose run has ended, and counts the board in the line about all
// boards.
func (l *Live) end(b *liveBoard, outcome event.Outcome) {
	l.boards = slices.DeleteFunc(l.boards, func(other *liveBoard) bool { return other == b })
	switch {
	case outcome == event.Complete:
		l.ends.complete++
	case outcome.AsksPerson():
		l.ends.waiting++
	}
}

// at returns the display of a board at time t.
func (b *liveBoard) at(t time.Time) now {
	is := b.fold.Now
	n := now{board: b.name, index: is.Index, of: is.Of, task: is.Task, player: is.Ref, adapter: is.Adapter, since: is.Since,
		used: b.fold.Run.Carried.Plus(is.Used), limit: b.fold.Run.Limits.MaxCost, health: is.Health}
	switch {
	case is.Doing != projection.Doing{}:
		n.doing = doing{is.Doing.What, is.Doing.Since, is.Doing.Detail}
	case b.trace != nil && !is.Asked.IsZero() && is.Asked.After(b.trace.Activity):
		n.doing = doing{"asked", is.Asked, "no answer yet"}
	case b.trace != nil:
		n.doing = doingOf(b.trace, t)
	}
	if b.trace != nil {
		n.last = b.trace.Activity
	}
	n.weight = weightOf(n.health)
	return n
}

func (l *Live) permanent(board string, s event.Sentence) string {
	name := ""
	if l.names && board != "" {
		name = board + "  "
	}
	text := l.out.Sprintf("%s%s", name, s)
	width, _ := l.size()
	if s.Weight == event.Success { // cut, because the command "kanban-run log" shows the whole line
		text = cut(text, width-3)
	} else if runewidth.StringWidth(text) > width-2 {
		text = strings.Join(Wrap(text, width-2), "\n  ")
	}
	return coloredSign(s.Weight, l.color) + " " + text
}

// draw erases the old live lines, prints the permanent lines in the parameter "stay", and prints
// the present live lines below the permanent lines. All this text goes to the terminal in one
// write. draw ignores errors, because a terminal that is gone must not stop a run.
func (l *Live) draw(stay []string) {
	var b strings.Builder
	width, height := l.size()
	if rows := l.rows(width); rows > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", rows)
	}
	for _, s := range stay {
		b.WriteString(s + "\n")
	}
	l.drawn = l.drawn[:0]
	for _, line := range l.liveLines(width-1, height-2) {
		b.WriteString(line + "\n")
		l.drawn = append(l.drawn, runewidth.StringWidth(colors.ReplaceAllString(line, "")))
	}
	l.last = l.now()
	if b.Len() > 0 {
		_ = l.out.PrintTrusted(b.String())
	}
}

// rows returns the number of screen rows that the drawn live lines have now. A terminal that has
// become narrower has wrapped these lines.
func (l *Live) rows(width int) int {
	rows := 0
	for _, drawn := range l.drawn {
		rows += max(1, (drawn+max(1, width)-1)/max(1, width))
	}
	return rows
}

// liveLines returns two lines for a board that runs alone. For several boards it returns one line
// each, and one line about all of them. The parameter most is the greatest number of lines.
func (l *Live) liveLines(width, most int) []string {
	var boards []now
	for _, b := range l.boards {
		if b.fold.Runs > 0 {
			boards = append(boards, b.at(l.now()).clean(l.out))
		}
	}
	if len(boards) == 0 {
		return nil
	}
	var lines []string
	if l.names {
		most-- // for the line of all boards
		lines = nowRows(boards, l.now(), width, l.color)
	} else {
		lines = boards[0].pair(l.now(), width, l.color)
	}
	if most = max(1, most); len(lines) > most { // draw cannot replace lines above the screen
		more := len(lines) - most + 1
		lines = append(lines[:most-1], cut(fmt.Sprintf("  and %d more", more), width))
	}
	if l.names {
		lines = append(lines, cut("  "+l.counts(), width))
	}
	return lines
}

// counts returns how many boards are complete, and how many wait for a person.
func (l *Live) counts() string {
	waiting := l.ends.waiting
	for _, b := range l.boards {
		if b.fold.Now.Doing.What == projection.ForConsent {
			waiting++
		}
	}
	text := fmt.Sprintf("%d of %d boards complete", l.ends.complete, len(l.order))
	switch waiting {
	case 0:
		return text
	case 1:
		return text + ", 1 waits for you"
	default:
		return fmt.Sprintf("%s, %d wait for you", text, waiting)
	}
}

// cutMiddle shortens a path to a width. It cuts the middle, because paths differ at their ends.
func cutMiddle(s string, width int) string {
	if runewidth.StringWidth(s) <= width {
		return s
	}
	head := runewidth.Truncate(s, width/3, "")
	tail := []rune(s)
	for runewidth.StringWidth(string(tail)) > width-runewidth.StringWidth(head)-1 {
		tail = tail[1:]
	}
	return head + "…" + string(tail)
}

// cut shortens a text to a width, so that the terminal does not wrap it. Characters may be two
// columns wide.
func cut(s string, width int) string {
	return runewidth.Truncate(s, max(1, width), "…")
}
