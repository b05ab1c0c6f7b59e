package report

import (
	"errors"
	"fmt"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
)

// Task is the state of a task of a board, for `kanban-run status`.
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
	TaskDone    = "done"    // its last step is finished, or the board marks it as done
	TaskNotOK   = "not_ok"  // its last reply was not ok
	TaskCurrent = "current" // the task of the open step; if no step is open, the board's current task
	TaskWaiting = "waiting"

	TaskQuarantined = "quarantined" // a loop is suspected
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
		if k.State = TaskCurrent; !t.quarantined[e.Task] { // a step of a quarantined task calls only the Manager
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
		if k.State = TaskDone; k.Status != "" && k.Status != "ok" {
			k.State = TaskNotOK
		}
	case event.StepAbandoned:
		t.of(e.Task).State = TaskWaiting
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
		t.known[task] = &Task{Task: task, State: TaskWaiting}
	}
	return t.known[task]
}

// List returns the states of the tasks with these paths. current is the board's current task, "" if
// there is none. done reports whether the board marks a task as done. find returns the index of a
// journaled task in paths, or -1.
func (t *Tasks) List(paths []string, current string, done func(i int) bool, find func(task string) int) []Task {
	all := make([]Task, len(paths))
	for i, p := range paths {
		all[i] = Task{Task: p, State: TaskWaiting}
	}
	for task, known := range t.known {
		if i := find(task); i >= 0 {
			k := *known
			k.Task = paths[i]
			if t.quarantined[task] {
				k.State = TaskQuarantined
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
		case all[i].State == TaskQuarantined:
		case i == at:
			all[i].State = TaskCurrent
		case all[i].State == TaskCurrent: // the board's current task has changed since the step
			all[i].State = TaskWaiting
		case all[i].State == TaskWaiting && done(i):
			all[i].State = TaskDone
		}
	}
	return all
}

// NeverWorkedOn returns the number of tasks that are neither done nor begun, in words: "2 tasks
// were never worked on"; "" for 0.
func NeverWorkedOn(tasks []Task) string {
	n := 0
	for _, t := range tasks {
		if t.State == TaskWaiting {
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

var taskMarks = map[string]string{
	TaskDone:        "✓",
	TaskNotOK:       "✗",
	TaskCurrent:     "▸",
	TaskWaiting:     " ",
	TaskQuarantined: "⟳",
}

// A list of more than mostTasks tasks is not shown whole, but only its tasks that are not ok or
// quarantined, and the current task with the given number of neighbours on either side.
const (
	mostTasks  = 40
	neighbours = 10
)

func writeTasks(out *console.Printer, tasks []Task) error {
	at, width := 0, 0
	for i, t := range tasks {
		if t.State == TaskCurrent {
			at = i
		}
	}
	var errs []error
	shown := func(i int) bool {
		return len(tasks) <= mostTasks ||
			tasks[i].State == TaskNotOK || tasks[i].State == TaskQuarantined ||
			i >= at-neighbours && i <= at+neighbours
	}
	for i, t := range tasks {
		if shown(i) {
			width = max(width, runewidth.StringWidth(t.Task))
		}
	}
	missed := 0
	for i, t := range tasks {
		if !shown(i) {
			missed++
			continue
		}
		name := t.Task
		if about := t.describe(); about != "" {
			name = runewidth.FillRight(name, width) + about
		}
		errs = append(errs, out.Printf("  %s %s\n", taskMarks[t.State], name))
	}
	if missed > 0 {
		errs = append(errs, out.Printf("  and %s more, which --json lists\n", event.Count(missed, "task")))
	}
	return errors.Join(errs...)
}

func (t Task) describe() string {
	if t.Attempts == 0 {
		return ""
	}
	text := fmt.Sprintf("  %s, %s, %s", t.Role, event.Count(t.Attempts, "attempt"), event.Took(t.Millis))
	if t.Status != "" && t.Status != "ok" {
		text += ", " + t.Status
	}
	return text
}
