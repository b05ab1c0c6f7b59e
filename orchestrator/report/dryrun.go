package report

import (
	"fmt"
	"io"
	"sync"

	"kanban-run/orchestrator/flow"
)

// DryRun writes who would have got which task, and the command that would have run. It is safe for concurrent use.
type DryRun struct {
	mu    sync.Mutex
	w     io.Writer
	clean func(string) string
	names bool
	*Plain
}

// NewDryRun writes the calls to w and warnings to notices.
func NewDryRun(w, notices io.Writer, clean func(string) string, names bool) *DryRun {
	return &DryRun{w: w, clean: clean, names: names, Plain: NewPlain(notices, clean, names)}
}

// Entry writes a line for each call of an agent.
func (d *DryRun) Entry(board string, e flow.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := ""
	if d.names {
		name = board + ": "
	}
	switch ev := e.Event.(type) {
	case flow.AttemptStarted:
		subject := ev.Task
		if ev.Call == flow.ManagerCall {
			subject = "done: " + ev.Task
		}
		_, _ = fmt.Fprintln(d.w, d.clean(fmt.Sprintf("%s%3d  %-11s  %s  would run: %s", name, ev.Step, ev.Role, subject, ev.Command)))
	case flow.ReplyRejected:
		d.Plain.Entry(board, e)
	}
}
