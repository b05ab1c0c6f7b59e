// Package walk decides as a Manager without a model: it marks the finished task as done and names
// the next task of the list. It reads no file and starts no program.
package walk

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/event"
)

// Turn is the input of a decision: the result of a task, and the list.
type Turn struct {
	Task    string         // the finished task, by its path for agents
	At      int            // its index on the list, from 0; -1: it is not listed
	Status  string         // of its agent's reply; "": the task is for the Manager itself
	Anomaly *event.Anomaly // the reason why the task is not done, or nil if there is none

	Len    int              // entries of the list
	Marked func(i int) bool // entry i is marked as done
	Head   func(i int) Head // of entry i; called only for entries that are not marked
}

// Head is the state of an entry's file.
type Head struct {
	Path  string // for agents
	Done  bool   // the state in the file ends the task
	Fault error  // the reason why it cannot be read
}

// Decision is a Manager's decision: seed 004, "Output Specification (Agent → Supervisor)".
type Decision struct {
	Status  string // blocked, error and escalate end the board
	Message string
	Next    string // "" ends the board
	Mark    bool   // the task is to be marked as done
}

// Decide goes on after a task that is ok, and ends the board with the status of any other task. A
// task with an anomaly ends the board as blocked, unless it is in quarantine.
func Decide(t Turn) Decision {
	switch {
	case t.Anomaly != nil:
		return t.replan()
	case t.Status == "":
		return Decision{Status: "blocked",
			Message: t.Task + " is a task for the Manager itself, and walk only goes down the list: give the " +
				"Manager an agent with a model, or the task another role"}
	case t.Status != "ok":
		return Decision{
			Status:  t.Status,
			Message: fmt.Sprintf("%s replied %s; its work log says why", t.Task, t.Status),
		}
	}
	d := t.goOn(t.Task + " is done")
	d.Mark = t.At >= 0
	return d
}

// replan decides about a task whose agent was ended for an anomaly.
func (t Turn) replan() Decision {
	switch t.Anomaly.Type {
	case "loop_suspected":
		return t.goOn(t.Task + " is in quarantine")
	case "checkpoint_block":
		return Decision{Status: "blocked", Message: "walk cannot plan anew, and " + t.Anomaly.Details}
	default:
		return Decision{
			Status:  "blocked",
			Message: fmt.Sprintf("%s is not done, and its plan does not hold: %s", t.Task, t.Anomaly.Details),
		}
	}
}

// goOn names the first entry after the task that is done neither on the list nor in its file. After
// a task that is not listed it begins with the first entry. It skips a file that cannot be read,
// and says so in the message. After the last entry the board ends, as blocked if a file of the list
// cannot be read.
func (t Turn) goOn(text string) Decision {
	said := []string{text}
	for i := t.At + 1; i < t.Len; i++ {
		if t.Marked(i) {
			continue
		}
		head := t.Head(i)
		switch {
		case head.Fault != nil:
			said = append(said, fmt.Sprintf("%s is skipped: %v", head.Path, head.Fault))
		case !head.Done && head.Path != t.Task:
			return Decision{Status: "ok", Message: strings.Join(said, "; "), Next: head.Path}
		}
	}
	d := Decision{Status: "ok"}
	if faults := t.unreadable(); len(faults) > 0 {
		d.Status, said = "blocked", append(said[:1], faults...)
	} else {
		said = said[:1]
	}
	d.Message = strings.Join(said, "; ")
	return d
}

// unreadable names at most three tasks of the list that are not marked as done and cannot be read:
// no agent worked on them.
func (t Turn) unreadable() (all []string) {
	const most = 3
	for i := 0; i < t.Len && len(all) < most; i++ {
		if t.Marked(i) || i == t.At {
			continue
		}
		if head := t.Head(i); head.Fault != nil {
			all = append(all, fmt.Sprintf("%s was not worked on: %v", head.Path, head.Fault))
		}
	}
	return all
}
