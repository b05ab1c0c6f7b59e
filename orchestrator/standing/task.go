package standing

import (
	"cmp"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Task is how a task of a board stands.
type Task struct {
	Task     string `json:"task"`
	Seen     string `json:"-"`                // its path in the steps; "": it was never worked on
	State    string `json:"state"`            // one of the constants
	Status   string `json:"status,omitempty"` // of its last reply; accepted: a person counts it as done; skipped: a person has the board go on without it
	Role     string `json:"role,omitempty"`   // of its last step
	Attempts int    `json:"attempts"`         // of all its steps, without the Manager's
	Millis   int64  `json:"millis"`           // of all attempts, in ms
	Said     string `json:"said,omitempty"`   // message of its last reply that was not ok, or last line of stderr of one that was no reply

	spoke int // counts the words that agents have said until Said
}

// The states of a task.
const (
	Done    = "done"        // its last reply is ok, the board marks it, or its header or a person says so
	Before  = "done_before" // it was done when the first run began
	NotOK   = "not_ok"      // its last reply was not ok
	Current = "current"     // the task of the open step; if no step is open, the board's current task
	Waiting = "waiting"     // never worked on
	Dropped = "dropped"     // the Manager took it off the list undone

	Quarantined = "quarantined" // a loop is suspected
)

// Tasks folds the events of a journal into the work on tasks.
type Tasks struct {
	known     map[string]*Task
	words     int
	rejected  int // in the last step
	decisions []Decision
	decided   string    // by a person after the last run
	ended     time.Time // of the last record
	proposal  *event.ReassignProposed
}

// Decision is what a person decided about a board.
type Decision struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// Add folds the next event in.
func (t *Tasks) Add(entry event.Entry) {
	e := entry.Event
	t.ended = entry.Time
	if end, ok := event.EndOf(e); ok && end.Call != event.ManagerCall {
		t.of(end.Task).Millis += end.Millis
	}
	if about, line, ok := event.PrintedBy(e); ok && about.Call == event.TaskCall {
		t.say(about.Task, line)
	}
	switch e := e.(type) {
	case event.RunStarted:
		t.proposal, t.decided = nil, ""
	case event.ReassignProposed:
		t.proposal = &e
	case event.Acknowledged:
		t.decided = e.Text
		t.decide(entry)
	case event.ForcedFinalizeAcked:
		t.decide(entry)
	case event.QuarantineEnded:
		if e.ID != "" { // otherwise an edit ended it
			t.decide(entry)
		}
	case event.AttemptStarted:
		if e.Call != event.ManagerCall {
			t.of(e.Task).Attempts++
		}
	case event.ReplyRejected:
		t.rejected++
	case event.StepStarted:
		t.rejected = 0
		if e.Role != event.ManagerRole || t.of(e.Task).Role == "" { // a task in quarantine goes to the Manager
			t.of(e.Task).Role = e.Role
		}
	case event.ReplyAccepted:
		if e.Call == event.TaskCall {
			t.of(e.Task).Status = e.Status
			if t.say(e.Task, ""); e.Status != flow.StatusOK {
				t.say(e.Task, e.Message)
			}
		}
	}
}

// say notes the last words of a task's agent.
func (t *Tasks) say(task, text string) {
	t.words++
	t.of(task).Said, t.of(task).spoke = text, t.words
}

// decide keeps the last decisions of a person.
func (t *Tasks) decide(e event.Entry) {
	const most = 3
	t.decisions = append(t.decisions, Decision{e.Time, e.Event.Sentence().Text})
	t.decisions = t.decisions[max(0, len(t.decisions)-most):]
}

// Rejected returns the number of replies rejected in the open step, or, if no step is open, in the
// last step. The step may span several runs.
func (t *Tasks) Rejected() int { return t.rejected }

func (t *Tasks) of(task string) *Task {
	if t.known == nil {
		t.known = map[string]*Task{}
	}
	if t.known[task] == nil {
		t.known[task] = &Task{Task: task}
	}
	return t.known[task]
}

// List returns the tasks of a list, in its order, and after them those that were dropped. current is
// the board's current task; "" if the board is over.
func (t *Tasks) List(l flow.List, s *flow.State, current string) []Task {
	all := make([]Task, len(l.Paths))
	for i, status := range s.StatusesOn(l) {
		all[i] = Task{Task: l.Paths[i], State: stateOf(status, l.Marked(i), func() bool { return l.Done(i) })}
		if status == flow.StatusAccepted || status == flow.StatusSkipped {
			all[i].Status = status
		}
	}
	for task, known := range t.known {
		if i := l.Find(task); i >= 0 {
			k := *known
			k.Task, k.Seen, k.State = all[i].Task, task, all[i].State
			k.Status = cmp.Or(all[i].Status, k.Status)
			all[i] = k
		}
	}
	if s.Step != nil {
		current = s.Step.Task
	}
	if current != "" {
		if i := l.Find(current); i >= 0 {
			all[i].State = Current
		}
	}
	for _, q := range s.Quarantine {
		if i := l.Find(q.Task); i >= 0 {
			all[i].State = Quarantined
		}
	}
	for _, task := range s.StillDropped(l) {
		k := *t.of(task)
		k.State = Dropped
		all = append(all, k)
	}
	return all
}

// stateOf returns the state of a task that is neither current nor in quarantine. status is its last
// status.
func stateOf(status string, marked bool, headed func() bool) string {
	last := flow.TaskStatus{Status: status}
	switch {
	case status == flow.StatusBefore:
		return Before
	case last.IsDone(), marked, headed():
		return Done
	case status == "":
		return Waiting
	default:
		return NotOK
	}
}
