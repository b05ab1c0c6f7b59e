// Package walk decides as a Manager without a model: it marks the finished task as done and names
// the next task of the list. It reads no file and starts no program.
package walk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// Turn is the input of a decision: the result of a task, and the list.
type Turn struct {
	Task    string         // the finished task, by its path for agents
	At      int            // its index on the list, from 0; -1: it is not listed
	Status  string         // of its agent's reply; "": the task is for the Manager itself
	Anomaly *event.Anomaly // the reason why the task is not done, or nil if there is none

	Whole  bool             // the next task may be any of the list, and not only one behind the finished task
	Len    int              // entries of the list
	Marked func(i int) bool // entry i is marked as done
	Past   func(i int) Past // what the history says of entry i; nil: all are open
	Head   func(i int) Head // of entry i; called only for entries that are not marked
}

// Past is what the history of a board says of a task.
type Past int

// The values of Past.
const (
	Open        Past = iota
	Settled          // it is done
	Skipped          // a person has the board go on without it
	Aside            // it was set aside in this run
	Quarantined      // it waits for a person
)

// Head is the state of an entry's file.
type Head struct {
	Path  string   // for agents
	Done  bool     // the state in the file ends the task
	Needs []string // the tasks that have to be done before it, and are not
	Fault error    // the reason why it cannot be read
}

// Decision is a Manager's decision: seed 004, "Output Specification (Agent → Supervisor)".
type Decision struct {
	Status  string // blocked, error and escalate end the board
	Message string
	Next    string // "" ends the board
	Mark    bool   // the task is to be marked as done

	Left []string // with a task to try again as Next: the tasks that were not worked on, with their reasons
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
	case event.SetAsideType:
		return t.goOn(t.Task + cmp.Or(decided[t.Anomaly.Check], " is set aside"))
	case "checkpoint_block":
		return Decision{Status: "blocked", Message: "walk cannot plan anew, and " + t.Anomaly.Details}
	default:
		return Decision{
			Status:  "blocked",
			Message: fmt.Sprintf("%s is not done, and its plan does not hold: %s", t.Task, t.Anomaly.Details),
		}
	}
}

// decided tells what a person has decided about a task that was set aside.
var decided = map[string]string{string(event.Skip): " is skipped", string(event.Accept): " counts as done"}

// goOn names the first entry after the task, or with Whole the first one of the list, that is done neither on
// the list nor in its file, and that needs no task which is not done. After a task that is not listed it
// begins with the first entry. It skips a file that cannot be read, and says so in the message. If nothing is
// left to try but tasks that were set aside, it names the first of them, or else the first in quarantine. After
// the last entry the board ends, as blocked if a file of the list cannot be read, or if the rest needs one
// another.
func (t Turn) goOn(text string) Decision {
	said := []string{text}
	var aside, quarantined string
	var unready []string
	skipped := false
	for i := t.first(); i < t.Len; i++ {
		past := Open
		if t.Past != nil {
			past = t.Past(i)
		}
		if t.Marked(i) || past == Settled || past == Skipped {
			skipped = skipped || past == Skipped && !t.Marked(i)
			continue
		}
		head := t.Head(i)
		switch {
		case head.Fault != nil:
			said = append(said, fmt.Sprintf("%s is skipped: %v", head.Path, head.Fault))
		case head.Done:
		case past == Aside:
			aside = cmp.Or(aside, head.Path)
		case past == Quarantined:
			quarantined = cmp.Or(quarantined, head.Path)
		case head.Path == t.Task:
		case len(head.Needs) > 0:
			unready = append(unready, fmt.Sprintf("%s is not worked on: it needs %s", head.Path, strings.Join(head.Needs, ", ")))
		default:
			return Decision{Status: "ok", Message: strings.Join(said, "; "), Next: head.Path}
		}
	}
	switch faults := t.unreadable(); {
	case aside != "", quarantined != "":
		return Decision{Status: "ok", Message: text, Next: cmp.Or(aside, quarantined), Left: slices.Concat(faults, unready)}
	case skipped && len(faults) == 0: // a person leaves it undone, and what needs it
		return Decision{Status: "ok", Message: strings.Join(append(said, unready...), "; ")}
	case len(faults)+len(unready) > 0:
		return Decision{Status: "blocked", Message: strings.Join(slices.Concat(said[:1], faults, unready), "; ")}
	default:
		return Decision{Status: "ok", Message: text}
	}
}

// first returns the index of the first entry that may be next.
func (t Turn) first() int {
	if t.Whole {
		return 0
	}
	return t.At + 1
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
