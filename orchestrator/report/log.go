package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/standing"
)

// Log writes the history of a board: for each event its time, the number of its step if another
// step begins, a sign, and a text.
type Log struct {
	Verbose bool // every record, with its number, its epoch and its kind, and the sessions of agents
	Failed  bool // only events of weight Warning or more, and failures and retries of agents
	Step    int  // only events of this step, or of all steps if it is 0
	Width   int  // the width in columns at which lines break between words; 0 if lines stay whole
	Color   bool
	Title   string // stands before the first line; "": nothing does
	JSON    *JSON  // writes what the log does not leave out, in place of lines; nil: lines are written

	out  *console.Printer
	date string // date of the line before
	step int    // of the last line with a step
}

// NewLog returns a Log that writes to out.
func NewLog(out *console.Printer) *Log { return &Log{out: out} }

// Entry writes the lines of an event, unless Failed or Step leaves the event out.
func (l *Log) Entry(board string, e event.Entry) {
	lines := l.describe(e.Event)
	wrong := slices.ContainsFunc(lines, func(s event.Sentence) bool { return s.Weight >= event.Warning })
	step := event.StepOf(e.Event)
	if l.Failed && !wrong || l.Step != 0 && step != l.Step {
		return
	}
	if l.JSON != nil {
		l.JSON.Entry(board, e)
		return
	}
	head := ""
	if l.Verbose {
		head = fmt.Sprintf("%6d.%-2d %-20s ", e.Seq, e.Epoch, e.Event.Kind())
	}
	for _, line := range lines {
		l.print(head, e.Time, step, line)
	}
}

// Agent writes a sign of an agent, unless Failed or Step leaves the sign out.
func (l *Log) Agent(board string, s agent.Sign) {
	said := describeTool(s)
	if said.Text == "" {
		said = describeSign(s)
	}
	if l.Failed && !s.Failed && s.Kind != agent.Retry || l.Step != 0 && s.Step != l.Step {
		return
	}
	if l.JSON != nil {
		l.JSON.Agent(board, s)
		return
	}
	head := ""
	if l.Verbose {
		head = strings.Repeat(" ", 31)
	}
	l.print(head, s.Time, s.Step, said)
}

// Notice writes a warning.
func (l *Log) Notice(board, text string) {
	if l.JSON != nil {
		l.JSON.Notice(board, text)
		return
	}
	l.print("", time.Now(), l.step, event.Sentence{Weight: event.Warning, Text: text})
}

// describe returns the lines of an event. Without Verbose it leaves out routine lines, such as the
// line about the start of an agent. The line about the agent's end implies that start.
func (l *Log) describe(e event.Event) []event.Sentence {
	lines := e.Sentence().Lines()
	switch e := e.(type) {
	case event.RunStarted:
		lines[0].Text = "run started: " + lines[0].Text
	case event.RunFinished:
		lines[0].Weight = standing.Weigh(e.Outcome, e.Text)
	case event.RunInterrupted:
		lines[0].Weight = event.Warning
	case event.StepStarted, event.StepFinished:
	default:
		if !l.Verbose {
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

// print writes a line. If the date has changed, the date precedes it on a line of its own. If the
// step has changed, the line has the step's number.
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
	// The printer keeps an error, such as a closed pipe, until the command ends.
	text := strings.Join(lines, "\n"+strings.Repeat(" ", indent))
	_ = l.out.PrintTrusted(plain + coloredSign(s.Weight, l.Color) + " " + text + "\n")
}
