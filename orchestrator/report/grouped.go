package report

import (
	"fmt"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
)

// Grouped is an observer that writes the log of a GitHub Actions job. For each step it writes a
// group that can be folded, with the signs of the step's agents. After the group it writes a line
// with the result. The text in a group is wrapped in stop-commands with a token that cannot be
// guessed. Grouped is safe for concurrent use.
//
// Groups do not nest. If the job has a single board, each line is written at once. With several
// boards, the group of a step is written when the step ends.
type Grouped struct {
	mu     sync.Mutex
	out    *console.Printer
	token  string
	names  bool
	boards map[string]*group
	warned int
	lines  describer
}

// group is the step at which a board works. The group is open as soon as its head is written. From
// then on each line is written at once.
type group struct {
	title   string
	open    bool     // true if the head of the group is written
	shown   int      // number of agents' lines in the step, including lines not written
	last    []string // agents' lines after the first maxLines lines; only the last keptLines are kept
	result  string   // sentence with the last result of the step's task
	status  string   // status of the task that the field result tells
	lines   []string // lines to write when the group is written
	bytes   int      // total length of lines, in bytes
	dropped int      // number of older lines that were dropped from lines
}

const (
	maxLines    = 2000     // number of agents' lines that are shown from the beginning of a step
	keptLines   = 50       // number of agents' lines that are shown from the end of a longer step
	maxHeld     = 32 << 10 // greatest number of bytes that a group holds back
	maxWarnings = 5        // greatest number of annotations; GitHub shows only ten for one step of a job, and the command has some more
)

// NewGrouped returns an observer that writes to out, which the runner of the job reads. If names
// is true, each title of a group and each line outside of a group begin with the board's name.
func NewGrouped(out *console.Printer, token string, names bool) *Grouped {
	return &Grouped{out: out, token: token, names: names, boards: map[string]*group{}}
}

// Entry writes the lines of a journaled event.
func (g *Grouped) Entry(board string, e event.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	said := e.Event.Sentence()
	switch {
	case said.Edge == event.OpensStep:
		g.close(board)
		g.begin(board, said.String())
		return
	case said.Edge == event.OpensAttempt && g.boards[board] == nil:
		g.begin(board, fmt.Sprintf("step %d: %s goes on", said.Step, e.Event.Subject()))
	}
	for _, l := range g.lines.describe(e.Event) {
		g.say(board, l.String())
	}
	b := g.boards[board]
	switch said.Edge {
	case event.ClosesStep: // the line after the group is the sentence about the task, if the Manager lets it stand
		line := said.String()
		if b != nil && b.result != "" && b.status == said.Result {
			line = b.result
		}
		g.close(board)
		g.print(board, line)
	case event.LeavesStep, event.ClosesRun:
		g.close(board)
	default:
		if b != nil && said.Result != "" {
			b.result, b.status = said.String(), said.Result
		}
	}
}

// Agent writes a sign of an agent as a line of the step's group.
func (g *Grouped) Agent(board string, s agent.Sign) {
	if s.Kind != agent.Printed && !isTold(s.Event) {
		return
	}
	text := s.Event.String()
	g.mu.Lock()
	defer g.mu.Unlock()
	if b := g.boards[board]; b != nil {
		if b.shown++; b.shown > maxLines {
			b.last = append(b.last[max(0, len(b.last)+1-keptLines):], text)
			return
		}
	}
	g.say(board, "  "+text)
}

// Notice writes a warning annotation. If a group is open, or if there were maxWarnings annotations
// already, it writes a plain line instead.
func (g *Grouped) Notice(board, text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, b := range g.boards {
		if b.open { // the runner of the job takes no command within a group
			g.say(name, "warning: "+text)
			return
		}
	}
	if g.warned++; g.warned > maxWarnings {
		g.say(board, "warning: "+text)
		return
	}
	_ = g.out.Command("warning", text, console.Property{Name: "title", Value: g.prefix(board, "kanban-run")})
}

func (g *Grouped) prefix(board, otherwise string) string {
	if board == "" {
		return otherwise
	}
	return board
}

// begin begins the group of a step, and opens it at once if the job has a single board.
func (g *Grouped) begin(board, title string) {
	b := &group{title: title, open: !g.names}
	g.boards[board] = b
	if b.open {
		g.head(board, b)
	}
}

func (g *Grouped) head(board string, b *group) {
	title := b.title
	if g.names {
		title = board + " " + title
	}
	_ = g.out.Command("group", title)
	_ = g.out.Command("stop-commands", g.token)
}

// say writes a line into the board's group. If the group is not open yet, the line is held back.
func (g *Grouped) say(board, text string) {
	b := g.boards[board]
	switch {
	case b == nil:
		g.print(board, text)
	case b.open:
		_ = g.out.Printf("%s\n", text)
	default:
		b.keep(text)
	}
}

// keep holds a line back. It drops the oldest lines while the group holds more than maxHeld bytes.
func (b *group) keep(text string) {
	b.lines, b.bytes = append(b.lines, text), b.bytes+len(text)
	for b.bytes > maxHeld && len(b.lines) > 1 {
		b.bytes -= len(b.lines[0])
		b.lines = b.lines[1:]
		b.dropped++
	}
}

// close ends the group of a board's step, and writes the lines held back. It does nothing if the
// board has no group.
func (g *Grouped) close(board string) {
	b := g.boards[board]
	if b == nil {
		return
	}
	if missed := b.shown - maxLines - len(b.last); missed > 0 {
		g.say(board, fmt.Sprintf("  … %s of this step not shown", event.Count(missed, "line")))
	}
	for _, text := range b.last {
		g.say(board, "  "+text)
	}
	delete(g.boards, board)
	if !b.open {
		g.head(board, b)
		if b.dropped > 0 {
			_ = g.out.Printf("… %d lines before these\n", b.dropped)
		}
		for _, text := range b.lines {
			_ = g.out.Printf("%s\n", text)
		}
	}
	_ = g.out.Command(g.token, "")
	_ = g.out.Command("endgroup", "")
}

func (g *Grouped) print(board, text string) {
	if g.names && board != "" {
		text = board + ": " + text
	}
	_ = g.out.Printf("%s\n", text)
}

// Close ends the groups of runs that reported no end.
func (g *Grouped) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for board := range g.boards {
		g.close(board)
	}
}
