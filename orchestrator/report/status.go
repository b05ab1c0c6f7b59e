package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"kanban-run/orchestrator/flow"
)

// Status is where a board stands, for `kanban-run status`.
type Status struct {
	Board    string       `json:"board"`
	Running  bool         `json:"running"` // a run owns the board now
	Outcome  flow.Outcome `json:"outcome,omitempty"`
	Text     string       `json:"text,omitempty"`
	Frozen   bool         `json:"frozen"`
	Steps    int          `json:"steps"`     // finished under the current limits
	LastStep int          `json:"last_step"` // steps ever started
	Open     *OpenStep    `json:"open_step,omitempty"`
	Next     string       `json:"next"`
	Journal  string       `json:"journal"`
	Records  uint64       `json:"records"`
}

// OpenStep is a step that was started and is not finished.
type OpenStep struct {
	Step     int       `json:"step"`
	Task     string    `json:"task"`
	Role     string    `json:"role"`
	Call     flow.Call `json:"call"`
	Attempts int       `json:"attempts"`
	Rejected int       `json:"rejected"`
	Reason   string    `json:"last_reason,omitempty"`
}

// NewStatus renders a state.
func NewStatus(board string, s flow.State, running bool) Status {
	st := Status{Board: board, Running: running, Outcome: s.Outcome, Text: s.Text, Frozen: s.Frozen != nil, Steps: s.Steps,
		LastStep: s.LastStep, Next: next(s, running)}
	if step := s.Step; step != nil {
		st.Open = &OpenStep{Step: step.Number, Task: step.Task, Role: step.Role, Call: step.Call, Attempts: step.Started,
			Rejected: step.Rejected, Reason: step.LastReason}
	}
	return st
}

// next says what the next run would do, as far as the journal alone tells.
func next(s flow.State, running bool) string {
	switch {
	case running:
		return "a run is at work"
	case s.Frozen != nil:
		return "nothing until kanban-run ack: the board is frozen"
	case s.Outcome == flow.Complete && s.Step == nil:
		return "nothing, unless the board is edited"
	case s.Outcome == flow.NeedsPerson && !s.Last.Acknowledged && s.Step == nil:
		return "the same ending, until the board is edited or acknowledged with kanban-run ack"
	case s.Step != nil && s.Step.Reply != nil:
		return "record the Manager's reply to " + s.Step.Task
	case s.Step != nil && s.Step.Call == flow.ManagerCall:
		return "start the Manager for " + s.Step.Task
	case s.Step != nil:
		return "start " + s.Step.Role + " again for " + s.Step.Task
	default:
		return "read the board and go on with its current task"
	}
}

// WriteText writes the status for a person.
func (s Status) WriteText(w io.Writer, clean func(string) string) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, clean(fmt.Sprintf(format, args...)))
	}
	row("board", "%s", s.Board)
	switch {
	case s.Running:
		row("state", "running")
	case s.Outcome == "":
		row("state", "stopped without an ending: the run was killed")
	default:
		row("state", "%s: %s", s.Outcome, s.Text)
	}
	row("steps", "%d", s.LastStep)
	if o := s.Open; o != nil {
		row("open", "step %d: %s, %s call for %s, %s started, %d rejected", o.Step, o.Role, o.Call, o.Task, flow.Count(o.Attempts, "attempt"), o.Rejected)
	}
	row("next", "%s", s.Next)
	row("journal", "%s (%d records)", s.Journal, s.Records)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the status as one JSON object.
func (s Status) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}
