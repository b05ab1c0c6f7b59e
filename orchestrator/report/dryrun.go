package report

import (
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
)

// DryRun is an observer that writes the role for each task, and the command that would run. It is
// safe for concurrent use.
type DryRun struct {
	out *console.Printer
	*Plain
}

// NewDryRun returns an observer with two printers. It writes the agents' calls with the printer
// out, and the warnings with the printer notices.
func NewDryRun(out, notices *console.Printer, names bool) *DryRun {
	return &DryRun{out: out, Plain: NewPlain(notices, names)}
}

// Entry writes a line for each call of an agent and for each decision of the adapter "walk". It
// writes a rejected reply as a warning.
func (d *DryRun) Entry(board string, e event.Entry) {
	name := ""
	if d.names {
		name = board + ": "
	}
	switch ev := e.Event.(type) {
	case event.AttemptStarted:
		_ = d.out.Printf("%s%3d  %-11s  %s  would run: %s\n", name, ev.Step, ev.Role, ev.Call.Of(ev.Task), ev.Command)
	case event.ManagerWalked:
		_ = d.out.Printf("%s%3d  %-11s  done: %s  would run: %s, without a program\n", name, ev.Step, event.ManagerRole,
			ev.Task, event.Walker)
	case event.ReplyRejected:
		ev.Output = "" // a dry run removes the output with its private copy of the board
		e.Event = ev
		d.Plain.Entry(board, e)
	}
}
