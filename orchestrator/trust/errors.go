package trust

import (
	"strings"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// ChangedError is the error for a start of what was changed while agents worked, until a person accepts
// it.
type ChangedError struct {
	Items []asked.Item  // of the work tree
	Board string        // the board of Task
	Task  *flow.Changed // a task that waits alone; nil: all calls that use the items are refused
}

func (e *ChangedError) Error() string {
	if e.Task != nil {
		return "its role " + e.Task.Roles[0] + " is handed a secret, and it was given to that role " + whileOf(*e.Task)
	}
	var parts []string
	for _, i := range e.Items {
		parts = append(parts, i.Words)
	}
	return "changed: " + strings.Join(parts, "; ")
}

// whileOf says in words when a change was made.
func whileOf(c flow.Changed) string {
	if strings.Contains(c.Task, ", ") {
		return "while " + c.Task + " were worked on"
	}
	return "while " + c.Task + " was worked on"
}

// Hint returns what a person can do.
func (e *ChangedError) Hint() string {
	if e.Task != nil {
		return "if that was you: kanban-run ack " + failure.Quote(e.Board) + " accept"
	}
	return "if that was you: " + asked.Command + "; kanban-run ack --here shows the difference"
}

// ReviewError is the error for a review by a command that was changed in this command, if the role asks for
// a person then.
type ReviewError struct{ changed string }

func (e *ReviewError) Error() string {
	return "the command that reviews the work is another one by now: " + e.changed
}
