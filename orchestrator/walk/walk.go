// Package walk decides as a Manager without a model: it marks the finished task as done and names
// the next task of the list. It reads no file and starts no program.
package walk

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// Turn is the input of a decision: the result of a task, and the list of tasks.
type Turn struct {
	Task    string         // path of the finished task, as agents see it
	At      int            // index of this task on the list, from 0; -1 if it is not listed
	Status  string         // status of the agent's reply; "" if the task is for the Manager itself
	Is      string         // that status in words for a sentence about the task, such as "is blocked"
	Said    string         // message of that reply, on one line; "": none
	Anomaly *event.Anomaly // reason why the task is not done; nil for none

	Len    int              // number of entries on the list
	Marked func(i int) bool // reports whether entry i is marked as done
	Past   func(i int) Past // returns the past of entry i; if the function is nil, all entries are Open
	// Head returns the state of the file of entry i. It is not called for an entry that is known to
	// be done or skipped.
	Head func(i int) Head
}

// Past is the state of a task in the history of a board.
type Past int

// The values of Past.
const (
	Open    Past = iota
	Settled      // done, or a person has decided to go on without it
	// Skipped is the state of a task that is left undone for good: it is in quarantine and the board does
	// not wait for a person.
	Skipped
	Aside       // set aside in this run
	Again       // to be tried again although the list or the file's header says that it is done
	Quarantined // in quarantine; the board waits for a person
)

// Head is the state of an entry's file.
type Head struct {
	Path  string   // path as agents see it
	Done  bool     // according to its header, the task is done
	Needs []string // unfinished tasks that have to be done before this one
	Fault error    // reason why the file cannot be read; nil if it can be read
}

// Decision is a Manager's decision: seed 004, "Output Specification (Agent → Supervisor)".
type Decision struct {
	Status  string // "blocked", "error" and "escalate" end the board
	Message string
	Next    string // path of the next task; "" ends the board
	Mark    bool   // the finished task is to be marked as done

	// Left are tasks that were not worked on, each with the reason. They are set only if Next is a
	// task that was set aside or is in quarantine.
	Left []string
}

// Decide returns the decision after a task. If the status of the task is ok, Decide names the next
// task. Otherwise it ends the board with that status. A task for the Manager itself ends the board
// as blocked. An anomaly also ends it as blocked, unless the task is in quarantine or was set
// aside.
func Decide(t Turn) Decision {
	switch {
	case t.Anomaly != nil:
		return t.decideAnomaly()
	case t.Status == "":
		return Decision{Status: "blocked",
			Message: t.Task + " is a task for the Manager itself, and walk only goes down the list: give the " +
				"Manager an agent with a model, or the task another role"}
	case t.Status != "ok":
		why := "; its work log says why"
		if t.Said != "" {
			why = ": " + t.Said
		}
		return Decision{Status: t.Status, Message: t.Task + " " + t.Is + why}
	}
	d := t.goOn(t.Task + " is done")
	d.Mark = t.At >= 0
	return d
}

// decideAnomaly decides about a task that is not done because of an anomaly.
func (t Turn) decideAnomaly() Decision {
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

// decided has the words for the decisions of a person about a task that was set aside.
var decided = map[string]string{string(event.Skip): " is skipped", string(event.Accept): " counts as done"}

// goOn names the next task on which an agent can work: it is not done, but all tasks that it needs
// are done. goOn looks at the entries after t.Task, and then at those from the top of the list. It
// skips files that cannot be read, and names them in the message. If no agent can work on any task,
// goOn names the first task that was set aside, or else the first task in quarantine. Without such
// a task the board ends. It ends as blocked if a file cannot be read. It also ends as blocked if
// a task needs an unfinished task and no task of the list is Skipped.
func (t Turn) goOn(text string) Decision {
	said := []string{text}
	left := map[Past][]string{Aside: make([]string, t.Len), Quarantined: make([]string, t.Len)}
	var unready []string
	skipped := false
	for k := range t.Len {
		i := (t.At + 1 + k) % t.Len
		past := t.past(i)
		// The history is newer than the list's mark and the file's header.
		failed := past == Aside || past == Again
		if t.Marked(i) && !failed || past == Settled || past == Skipped {
			skipped = skipped || past == Skipped && !t.Marked(i)
			continue
		}
		head := t.Head(i)
		switch {
		case head.Fault != nil:
			said = append(said, fmt.Sprintf("%s is skipped: %v", head.Path, head.Fault))
		case head.Done && !failed:
		case past == Aside, past == Quarantined:
			left[past][i] = head.Path
		case path.Clean(head.Path) == path.Clean(t.Task):
		case len(head.Needs) > 0:
			unready = append(unready, fmt.Sprintf("%s is not worked on: it needs %s", head.Path, event.List(head.Needs, mostNamed)))
		default:
			return Decision{Status: "ok", Message: strings.Join(few(said), "; "), Next: head.Path}
		}
	}
	next := cmp.Or(slices.Concat(left[Aside], left[Quarantined])...)
	switch faults := t.unreadable(); {
	case next != "":
		return Decision{Status: "ok", Message: text, Next: next, Left: few(slices.Concat(faults, unready))}
	case skipped && len(faults) == 0: // the tasks that need a skipped task stay undone, too
		return Decision{Status: "ok", Message: strings.Join(few(append(said, unready...)), "; ")}
	case len(faults)+len(unready) > 0:
		return Decision{Status: "blocked", Message: strings.Join(few(slices.Concat(said[:1], faults, unready)), "; ")}
	default:
		return Decision{Status: "ok", Message: text}
	}
}

// mostNamed bounds the tasks that a message names, and the needs of each.
const mostNamed = 5

// few returns the first parts of a message, and the number of the others.
func few(parts []string) []string {
	if more := len(parts) - mostNamed; more > 1 {
		return append(slices.Clone(parts[:mostNamed]), fmt.Sprintf("and %d more", more))
	}
	return parts
}

func (t Turn) past(i int) Past {
	if t.Past == nil {
		return Open
	}
	return t.Past(i)
}

// unreadable returns at most three tasks whose files cannot be read, each with the reason. It
// leaves out t.Task and the tasks that are done or skipped.
func (t Turn) unreadable() (all []string) {
	const most = 3
	for i := 0; i < t.Len && len(all) < most; i++ {
		if past := t.past(i); t.Marked(i) || i == t.At || past == Settled || past == Skipped {
			continue
		}
		if head := t.Head(i); head.Fault != nil {
			all = append(all, fmt.Sprintf("%s was not worked on: %v", head.Path, head.Fault))
		}
	}
	return all
}
