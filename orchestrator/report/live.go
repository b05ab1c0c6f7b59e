package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
)

// Live shows one line for every running board at the bottom of a terminal, and calm permanent lines
// above. It is safe for concurrent use; Close removes the live lines.
type Live struct {
	mu     sync.Mutex
	out    *console.Printer
	width  func() int
	now    func() time.Time
	color  bool
	names  bool
	boards []*liveBoard
	order  []string // of the boards, as they were named
	drawn  []int    // widths of the live lines on the screen now
	last   time.Time
	done   chan struct{}
	idle   sync.WaitGroup
}

// liveBoard is what the live line of a board shows.
type liveBoard struct {
	name, player, task string
	index, of          int
	since              time.Time
	trace              *health.Trace // of the agent at work; nil before the first
}

// redrawEvery bounds how often activity redraws the screen.
const redrawEvery = 100 * time.Millisecond

// NewLive draws on the terminal out, which is width() columns wide, and starts a clock that redraws
// once a second. The boards keep the order in which they are named.
func NewLive(out *console.Printer, width func() int, color bool, boards []string) *Live {
	l := &Live{out: out, width: width, now: time.Now, color: color, names: len(boards) > 1, order: boards, done: make(chan struct{})}
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

// Entry brings the board's live line up to date and prints the lines that stay.
func (l *Live) Entry(board string, e flow.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.update(board, e)
	var stay []string
	for _, line := range describe(e.Event) {
		if line.mark != begun {
			stay = append(stay, l.permanent(board, line))
		}
	}
	l.draw(stay)
}

// Agent shows what the agent does in the live line.
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
	l.draw([]string{l.permanent(board, line{warn, "warning: " + text})})
}

func (l *Live) find(board string) *liveBoard {
	for _, b := range l.boards {
		if b.name == board {
			return b
		}
	}
	return nil
}

func (l *Live) update(board string, e flow.Entry) {
	b := l.find(board)
	switch ev := e.Event.(type) {
	case flow.RunStarted:
		if b == nil {
			l.boards = append(l.boards, &liveBoard{name: board, since: l.now()})
			slices.SortStableFunc(l.boards, func(a, b *liveBoard) int {
				return cmp.Compare(slices.Index(l.order, a.name), slices.Index(l.order, b.name))
			})
		}
	case flow.StepStarted:
		if b != nil {
			b.index, b.of = ev.Index, ev.Of
		}
	case flow.AttemptStarted:
		if b != nil {
			b.player, b.task, b.since, b.trace = Player(ev.AttemptRef), ev.Task, l.now(), health.NewTrace(l.now())
		}
	case flow.RunFinished, flow.RunInterrupted:
		for i := range l.boards {
			if l.boards[i] == b {
				l.boards = append(l.boards[:i], l.boards[i+1:]...)
				break
			}
		}
	}
}

// sign is the character before a permanent line, and its colour.
func (m mark) sign() (text, color string) {
	switch m {
	case good:
		return "✓", "\x1b[32m"
	case warn:
		return "!", "\x1b[33m"
	case bad:
		return "✗", "\x1b[31m"
	default:
		return " ", ""
	}
}

func (l *Live) permanent(board string, m line) string {
	sign, color := m.mark.sign()
	if l.color && color != "" {
		sign = color + sign + "\x1b[0m"
	}
	name := ""
	if l.names && board != "" {
		name = board + "  "
	}
	return sign + l.out.Sprintf(" %s%s", name, m.text)
}

// draw replaces the live lines by the lines that stay and the present live lines, in one write.
// Errors are ignored: a terminal that is gone must not stop a run.
func (l *Live) draw(stay []string) {
	var b strings.Builder
	width := l.width()
	if rows := l.rows(width); rows > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", rows)
	}
	for _, s := range stay {
		b.WriteString(s + "\n")
	}
	l.drawn = l.drawn[:0]
	for _, line := range l.liveLines(width - 1) {
		b.WriteString(line + "\n")
		l.drawn = append(l.drawn, runewidth.StringWidth(line))
	}
	l.last = l.now()
	if b.Len() > 0 {
		_ = l.out.PrintTrusted(b.String())
	}
}

// rows is how many rows of the screen the live lines have by now: a terminal that became narrower has
// wrapped them.
func (l *Live) rows(width int) int {
	rows := 0
	for _, drawn := range l.drawn {
		rows += max(1, (drawn+max(1, width)-1)/max(1, width))
	}
	return rows
}

// liveLines are the lines of the boards in columns: what must be seen comes first, and what is long last.
func (l *Live) liveLines(width int) []string {
	const longestPath = 40
	rows := make([][]string, len(l.boards))
	var widths [5]int
	for i, b := range l.boards {
		place := ""
		if b.index > 0 {
			place = fmt.Sprintf("%d of %d", b.index, b.of)
		}
		path := cutMiddle(l.out.Sprintf("%s", b.task), min(longestPath, max(8, width/3)))
		rows[i] = []string{l.out.Sprintf("%s", b.name), place, elapsed(l.now().Sub(b.since)), path, l.out.Sprintf("%s", b.player)}
		for k, cell := range rows[i] {
			widths[k] = max(widths[k], runewidth.StringWidth(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		text := "▸ "
		for k, cell := range row {
			switch {
			case widths[k] == 0:
			case k == 1 || k == 2: // numbers
				text += runewidth.FillLeft(cell, widths[k]) + "  "
			default:
				text += runewidth.FillRight(cell, widths[k]) + "  "
			}
		}
		if b := l.boards[i]; b.trace != nil {
			text += l.out.Sprintf("%s", describeTrace(b.trace, l.now()))
		}
		lines[i] = cut(strings.TrimRight(text, " "), width)
	}
	return lines
}

// cutMiddle keeps the beginning and the end of a path, where paths differ.
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

// cut keeps a line within the terminal's width, so that it stays one line. Characters may be two
// columns wide.
func cut(s string, width int) string {
	if width < 1 {
		return s
	}
	return runewidth.Truncate(s, width, "…")
}
