package standing

import (
	"fmt"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Task is how a task of a board stands.
type Task struct {
	Task     string `json:"task"`
	State    string `json:"state"`            // one of the constants
	Status   string `json:"status,omitempty"` // of its last reply
	Role     string `json:"role,omitempty"`   // of its last step
	Attempts int    `json:"attempts"`         // of all its steps, without the Manager's
	Millis   int64  `json:"millis"`           // of all attempts, in ms
	Said     string `json:"said,omitempty"`   // message of its last reply, if its status was not ok
}

// The states of a task.
const (
	Done    = "done"    // its last step is finished, or the board marks it as done
	NotOK   = "not_ok"  // its last reply was not ok
	Current = "current" // the task of the open step; if no step is open, the board's current task
	Waiting = "waiting"

	Quarantined = "quarantined" // a loop is suspected
)

// Tasks folds the events of a journal into the states of tasks.
type Tasks struct {
	known       map[string]*Task
	quarantined map[string]bool
	rejected    int // in the last step
}

// Add folds the next event in.
func (t *Tasks) Add(e event.Event) {
	if end, ok := event.EndOf(e); ok && end.Call != event.ManagerCall {
		t.of(end.Task).Millis += end.Millis
	}
	switch e := e.(type) {
	case event.AttemptStarted:
		if e.Call != event.ManagerCall {
			t.of(e.Task).Attempts++
		}
	case event.ReplyRejected:
		t.rejected++
	case event.StepStarted:
		t.rejected = 0
		k := t.of(e.Task)
		if k.State = Current; !t.quarantined[e.Task] { // a step of a quarantined task calls only the Manager
			k.Role = e.Role
		}
	case event.ReplyAccepted:
		if e.Call == event.TaskCall {
			k := t.of(e.Task)
			if k.Status, k.Said = e.Status, ""; e.Status != "ok" {
				k.Said = e.Message
			}
		}
	case event.StepFinished:
		k := t.of(e.Task)
		if k.State = Done; k.Status != "" && k.Status != "ok" {
			k.State = NotOK
		}
	case event.StepAbandoned:
		t.of(e.Task).State = Waiting
	case event.LoopSuspected:
		if t.quarantined == nil {
			t.quarantined = map[string]bool{}
		}
		t.quarantined[t.of(e.Task).Task] = true
	case event.QuarantineEnded:
		delete(t.quarantined, e.Task)
	case event.Acknowledged:
		t.quarantined = nil
	}
}

// Rejected returns the number of replies rejected in the open step, or, if no step is open, in the
// last step. The step may span several runs.
func (t *Tasks) Rejected() int { return t.rejected }

func (t *Tasks) of(task string) *Task {
	if t.known == nil {
		t.known = map[string]*Task{}
	}
	if t.known[task] == nil {
		t.known[task] = &Task{Task: task, State: Waiting}
	}
	return t.known[task]
}

// List returns the states of the tasks of a board, in its order. open is the open step; nil: none
// is open.
func (t *Tasks) List(b *board.Board, open *flow.Step) []Task {
	paths, find := b.TaskPaths(), b.Finder()
	current := ""
	switch {
	case open != nil:
		current = open.Task
	case !b.Terminal():
		current = b.Current.Path
	}
	all := make([]Task, len(paths))
	for i, p := range paths {
		all[i] = Task{Task: p, State: Waiting}
	}
	for task, known := range t.known {
		if i := find(task); i >= 0 {
			k := *known
			k.Task = paths[i]
			if t.quarantined[task] {
				k.State = Quarantined
			}
			all[i] = k
		}
	}
	at := -1
	if current != "" {
		at = find(current)
	}
	for i := range all {
		switch {
		case all[i].State == Quarantined:
		case i == at:
			all[i].State = Current
		case all[i].State == Current: // the board's current task has changed since the step
			all[i].State = Waiting
		case all[i].State == Waiting && b.Entry(i).Done():
			all[i].State = Done
		}
	}
	return all
}

// NeverWorkedOn returns the number of tasks that are neither done nor begun, in words: "2 tasks
// were never worked on"; "" for 0.
func NeverWorkedOn(tasks []Task) string {
	n := 0
	for _, t := range tasks {
		if t.State == Waiting {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 task was never worked on"
	default:
		return fmt.Sprintf("%d tasks were never worked on", n)
	}
}
