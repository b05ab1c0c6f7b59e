package report

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/flow"
)

// Plain writes one stable line for each event, for logs and pipes. It is safe for concurrent use.
type Plain struct {
	out      *console.Printer
	names    bool
	NoAgents bool // do not show what tools agents use
}

// NewPlain writes to out; names puts the board's name before each line.
func NewPlain(out *console.Printer, names bool) *Plain { return &Plain{out: out, names: names} }

// Entry writes the lines of a journaled event.
func (p *Plain) Entry(board string, e flow.Entry) {
	for _, l := range describe(e.Event) {
		p.print(board, e.Time.Local().Format("15:04:05"), l.text)
	}
}

// Agent writes what tools an agent uses. All else that it does would be most of the log.
func (p *Plain) Agent(board string, s agent.Sign) {
	if text := describeTool(s); text != "" && !p.NoAgents {
		p.print(board, s.Time.Local().Format("15:04:05"), text)
	}
}

// Notice writes a warning.
func (p *Plain) Notice(board, text string) { p.print(board, "warning:", text) }

func (p *Plain) print(board, head, text string) {
	if p.names && board != "" {
		head += " " + board
	}
	// A closed or full terminal must not stop a run: the journal has the event.
	_ = p.out.Printf("%s %s\n", head, text)
}

// Quiet shows warnings only.
type Quiet struct{ *Plain }

// Entry shows nothing.
func (Quiet) Entry(string, flow.Entry) {}

// Agent shows nothing.
func (Quiet) Agent(string, agent.Sign) {}

// Log writes the lines of a journal, with the date and the number of each record.
type Log struct {
	*Plain
	Verbose bool // also what a run does not show: owners, snapshots, writes of the board
	Failed  bool // only what went wrong
	Step    int  // only what is of this step; 0: all
}

// NewLog writes to out.
func NewLog(out *console.Printer) Log { return Log{Plain: NewPlain(out, false)} }

// Entry writes the lines of one event; an event that a run does not show is named by its kind.
func (l Log) Entry(board string, e flow.Entry) {
	lines := describe(e.Event)
	if len(lines) == 0 && (l.Verbose || isEnding(e.Event)) {
		lines = []line{{calm, describeRecord(e.Event)}}
	}
	wrong := slices.ContainsFunc(lines, func(l line) bool { return l.mark == warn || l.mark == bad })
	if l.Failed && !wrong || l.Step != 0 && StepOf(e.Event) != l.Step {
		return
	}
	if id := session(e.Event); id != "" {
		lines = append(lines, line{calm, "session " + id})
	}
	for _, line := range lines {
		l.print(board, fmt.Sprintf("%5d %s", e.Seq, e.Time.Local().Format("2006-01-02 15:04:05")), line.text)
	}
}

// Agent writes what an agent did.
func (l Log) Agent(board string, s agent.Sign) {
	text := describeTool(s)
	if text == "" {
		text = describeSign(s)
	}
	if l.Failed && !s.Failed && s.Kind != agent.Retry || l.Step != 0 && s.Step != l.Step {
		return
	}
	l.print(board, fmt.Sprintf("%5s %s", "", s.Time.Local().Format("2006-01-02 15:04:05")), text)
}

func isEnding(e flow.Event) bool {
	switch e.(type) {
	case flow.RunFinished, flow.RunInterrupted:
		return true
	default:
		return false
	}
}

// StepOf is the step that an event is of; 0: none.
func StepOf(e flow.Event) int {
	switch e := e.(type) {
	case interface{ About() flow.AttemptRef }:
		return e.About().Step
	case flow.StepStarted:
		return e.Step
	case flow.CallRestarted:
		return e.Step
	case flow.StateDiverged:
		return e.Step
	case flow.BoardWriteStarted:
		return e.Step
	case flow.BoardWritten:
		return e.Step
	case flow.StepFinished:
		return e.Step
	case flow.StepAbandoned:
		return e.Step
	default:
		return 0
	}
}

func describeRecord(e flow.Event) string {
	switch e := e.(type) {
	case flow.RunFinished:
		return fmt.Sprintf("run finished: %s: %s", e.Outcome, e.Text)
	case flow.SessionNamed:
		return fmt.Sprintf("step %d: %s works in session %s", e.Step, e.Role, e.Session)
	case flow.RunInterrupted:
		return fmt.Sprintf("run interrupted: %s: %s", e.Outcome, e.Reason)
	default:
		return strings.ToLower(strings.ReplaceAll(e.Kind(), "_", " ")) + ": " + e.Subject()
	}
}
