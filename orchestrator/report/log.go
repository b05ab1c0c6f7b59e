package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// Log writes the history of a board. A line has the time, the number of the step if a new step
// begins, a sign, and a text.
type Log struct {
	Verbose bool // true to show every record (number, epoch, kind) and the sessions of agents
	Width   int  // width in columns at which lines break between words, or 0 for whole lines
	Color   bool
	Title   string // text before the first line, or ""

	out  *console.Printer
	date string    // date of the last line
	step int       // step of the last line that has a step
	end  time.Time // of the last line, if that is about the end of a run or a decision; otherwise zero
}

// NewLog returns a Log that writes to out.
func NewLog(out *console.Printer) *Log { return &Log{out: out} }

// Watcher is an observer, to which a Filter forwards entries, signs and notices.
type Watcher interface {
	Entry(board string, e event.Entry)
	Agent(board string, s agent.Sign)
	Notice(board, text string)
}

// Filter forwards a part of a board's history to a Watcher.
type Filter struct {
	Watcher
	Failed bool // true to forward only warnings or worse, and agents' failures and retries
	Step   int  // number of the step whose events are forwarded, or 0 for all steps
}

// Entry forwards an event.
func (f *Filter) Entry(board string, e event.Entry) {
	isWrong := func(s event.Sentence) bool { return s.Weight >= event.Warning }
	if f.isOf(event.StepOf(e.Event)) && (!f.Failed || slices.ContainsFunc(describeForLog(e.Event, false), isWrong)) {
		f.Watcher.Entry(board, e)
	}
}

// Agent forwards a sign of an agent.
func (f *Filter) Agent(board string, s agent.Sign) {
	if f.isOf(s.Step) && (!f.Failed || s.Failed || s.Kind == agent.Retry) {
		f.Watcher.Agent(board, s)
	}
}

func (f *Filter) isOf(step int) bool { return f.Step == 0 || step == f.Step }

// Entry writes the lines of an event.
func (l *Log) Entry(_ string, e event.Entry) {
	lines := describeForLog(e.Event, l.Verbose)
	step := event.StepOf(e.Event)
	head := ""
	if l.Verbose {
		head = fmt.Sprintf("%6d.%-2d %-20s ", e.Seq, e.Epoch, e.Event.Kind())
	}
	for _, line := range lines {
		l.print(head, e.Time, step, line)
	}
	if len(lines) > 0 {
		l.end = time.Time{}
		if _, decided := event.DecisionOf(e.Event); decided || lines[0].Edge == event.ClosesRun {
			l.end = e.Time
		}
	}
}

// Agent writes a sign of an agent.
func (l *Log) Agent(_ string, s agent.Sign) {
	said := describeTool(s)
	if said.Text == "" {
		said = describeSign(s)
	}
	head := ""
	if l.Verbose {
		head = strings.Repeat(" ", 31)
	}
	l.print(head, s.Time, s.Step, said)
}

// Notice writes a warning.
func (l *Log) Notice(_, text string) {
	l.print("", time.Now(), l.step, event.Sentence{Weight: event.Warning, Text: text})
}

// Now writes how a board stands, unless the last line says so.
func (l *Log) Now(b *projection.Board) {
	if !l.end.IsZero() && !l.end.Before(b.Ended) && !b.IsNews() {
		return
	}
	at := b.Ended
	if at.IsZero() {
		at = time.Now()
	}
	l.print("", at, 0, event.Sentence{Weight: b.Weight, Text: "now: " + b.What()})
}

// describeForLog returns the lines of an event. It always returns all lines about the start or the
// end of a run or a step. If verbose is false, it leaves out the routine lines of other events. For
// example, it leaves out the start of an agent, which the line about the agent's end implies.
func describeForLog(e event.Event, verbose bool) []event.Sentence {
	lines := e.Sentence().Lines()
	switch lines[0].Edge {
	case event.OpensRun:
		lines[0].Text = "run started: " + lines[0].Text
	case event.ClosesRun:
		lines[0].Weight = lines[0].End
	case event.OpensStep, event.ClosesStep:
	default:
		if !verbose {
			return slices.DeleteFunc(lines, func(s event.Sentence) bool { return s.Weight <= event.Routine })
		}
		if end, ok := event.EndOf(e); ok && end.Session != "" {
			lines = append(lines, event.Sentence{Text: "session " + end.Session})
		}
	}
	return lines
}

// Sign returns the sign of a weight.
func Sign(w event.Weight, color bool) string { return coloredSign(w, color) }

// print writes a line. If the date has changed, a line with the date comes first. If the step has
// changed, the line has the step's number.
func (l *Log) print(head string, at time.Time, step int, s event.Sentence) {
	at = at.Local()
	if l.Title != "" {
		_ = l.out.Printf("%s\n", l.Title)
		l.Title = ""
	}
	if date := at.Format(time.DateOnly); date != l.date {
		l.date = date
		_ = l.out.Printf("%s\n", date)
	}
	number := ""
	if step != 0 && step != l.step {
		l.step, number = step, fmt.Sprint(step)
	}
	if s.Weight == event.Routine {
		s.Weight = event.Note
	}
	plain := fmt.Sprintf("%s%s %3s ", head, at.Format(time.TimeOnly), number)
	indent := len(plain) + len("x ")
	lines := []string{l.out.Sprintf("%s", s.Text)}
	if l.Width > 0 {
		lines = Wrap(lines[0], max(20, l.Width-indent))
	}
	// An error, such as a closed pipe, is not checked, because the printer keeps it until the
	// command ends.
	text := strings.Join(lines, "\n"+strings.Repeat(" ", indent))
	_ = l.out.PrintTrusted(plain + coloredSign(s.Weight, l.Color) + " " + text + "\n")
}
