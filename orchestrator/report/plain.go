package report

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"kanban-run/orchestrator/flow"
)

// Plain writes one stable line for each thing that happens, for logs and pipes. It is safe for concurrent use.
type Plain struct {
	mu    sync.Mutex
	w     io.Writer
	clean func(string) string
	names bool
}

// NewPlain writes to w. clean makes a text harmless on one line; names puts the board's name before each line.
func NewPlain(w io.Writer, clean func(string) string, names bool) *Plain {
	return &Plain{w: w, clean: clean, names: names}
}

// Entry writes the lines of a journaled event.
func (p *Plain) Entry(board string, e flow.Entry) {
	for _, l := range describe(e.Event) {
		p.print(board, e.Time.Local().Format("15:04:05"), l.text)
	}
}

// Activity is not shown: it would be most of the log.
func (p *Plain) Activity(string, string) {}

// Notice writes a warning.
func (p *Plain) Notice(board, text string) { p.print(board, "warning:", text) }

func (p *Plain) print(board, head, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names && board != "" {
		head += " " + p.clean(board)
	}
	// A closed or full terminal must not stop a run: the journal has the event.
	_, _ = fmt.Fprintf(p.w, "%s %s\n", head, p.clean(text))
}

// Quiet shows warnings only.
type Quiet struct{ *Plain }

// Entry shows nothing.
func (Quiet) Entry(string, flow.Entry) {}

// Log writes the lines of a journal that is read after the fact, with the date and the number of each record.
type Log struct{ *Plain }

// NewLog writes to w.
func NewLog(w io.Writer, clean func(string) string) Log { return Log{NewPlain(w, clean, false)} }

// Entry writes the lines of one event; an event that a run does not show is named by its kind.
func (l Log) Entry(board string, e flow.Entry) {
	lines := describe(e.Event)
	if len(lines) == 0 {
		lines = []line{{calm, ending(e.Event)}}
	}
	for _, line := range lines {
		l.print(board, fmt.Sprintf("%5d %s", e.Seq, e.Time.Local().Format("2006-01-02 15:04:05")), line.text)
	}
}

func ending(e flow.Event) string {
	switch e := e.(type) {
	case flow.RunFinished:
		return fmt.Sprintf("run finished: %s: %s", e.Outcome, e.Text)
	case flow.RunInterrupted:
		return fmt.Sprintf("run interrupted: %s: %s", e.Outcome, e.Reason)
	default:
		return strings.ToLower(strings.ReplaceAll(e.Kind(), "_", " ")) + ": " + e.Subject()
	}
}
