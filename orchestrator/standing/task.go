package standing

import (
	"cmp"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Task is the state of a task of a board.
type Task struct {
	Task  string `json:"task"`
	Seen  string `json:"-"`     // path of the task in the journal; "" if it was never worked on
	State string `json:"state"` // one of the states below
	// Status is the status of the last reply, "accepted" if a person counted the task as done, or
	// "skipped" if a person decided that the board goes on without the task.
	Status   string `json:"status,omitempty"`
	Role     string `json:"role,omitempty"` // role of the last step
	Attempts int    `json:"attempts"`       // number of attempts, without the Manager's
	Millis   int64  `json:"millis"`         // ms of these attempts
	// Said is the message of the last reply, if that was not ok. After an attempt without a valid
	// reply it is the last line on stderr.
	Said string `json:"said,omitempty"`

	spoke int // place of Said in the order in which all agents spoke
}

// The states of a task.
const (
	Done    = "done"        // done according to the last reply, the list, the file or a person
	Before  = "done_before" // done when the first run began
	NotOK   = "not_ok"      // the last reply was not ok
	Current = "current"     // the open step's task; if no step is open, the board's current task
	Waiting = "waiting"     // never worked on
	Dropped = "dropped"     // the Manager took it off the list before it was done

	Quarantined = "quarantined" // in quarantine, because a loop is suspected
)

// Tasks is the work on tasks, folded from the events of a journal. The zero value is ready.
type Tasks struct {
	known     map[string]*Task
	words     int
	rejected  int // number of rejected replies in the last step
	decisions []Decision
	decided   string    // last decision of a person since the last run began
	ended     time.Time // time of the last record
	proposal  *event.ReassignProposed
}

// Decision is a decision of a person about a board.
type Decision struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// Add adds the next event of the journal.
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
		t.addDecision(entry)
	case event.ForcedFinalizeAcked:
		t.addDecision(entry)
	case event.QuarantineEnded:
		if e.ID != "" { // a person's decision ended the quarantine, not an edit of the task
			t.addDecision(entry)
		}
	case event.AttemptStarted:
		if e.Call != event.ManagerCall {
			t.of(e.Task).Attempts++
		}
	case event.ReplyRejected:
		t.rejected++
	case event.StepStarted:
		t.rejected = 0
		// A task in quarantine is given to the Manager, but keeps its own role.
		if e.Role != event.ManagerRole || t.of(e.Task).Role == "" {
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

// addDecision adds a decision of a person, and keeps only the last few.
func (t *Tasks) addDecision(e event.Entry) {
	const most = 3
	t.decisions = append(t.decisions, Decision{e.Time, e.Event.Sentence().Text})
	t.decisions = t.decisions[max(0, len(t.decisions)-most):]
}

// Rejected returns the number of rejected replies in the open step, or in the last step if none is
// open. A step can span several runs.
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

// List returns the tasks in the order of the list l, and then the dropped tasks. The parameter
// current is the board's current task, or "" if the board is over.
func (t *Tasks) List(l flow.List, s *flow.State, current string) []Task {
	all := make([]Task, len(l.Paths))
	statuses := s.StatusesOn(l)
	for i, status := range statuses {
		all[i] = Task{Task: l.Paths[i], State: stateOf(status, l.Marked(i), func() bool { return l.Done(i) })}
		if status == flow.StatusAccepted || status == flow.StatusSkipped {
			all[i].Status = status
		}
	}
	for task, known := range t.known {
		if i := l.Find(task); i >= 0 {
			k := *known
			if k.Status != "" && statuses[i] == "" && (s.Step == nil || s.Step.Task != task) {
				k.Status, k.Said = "", "" // the last reply does not count any more
			}
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

// stateOf returns the state of a task that is neither current nor in quarantine. The parameter
// status is the status that the task got last.
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
