package projection

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// Task is the state of a task of a board, and the work on it.
type Task struct {
	Task  string    `json:"task"`
	State TaskState `json:"state"`
	// Status is the status of the last reply, "accepted" if a person counted the task as done, or
	// "skipped" if a person decided that the board goes on without the task.
	Status   string     `json:"status,omitempty"`
	Role     string     `json:"role,omitempty"` // role of the last step
	Tries    int        `json:"tries"`          // attempts at the work
	Reviews  int        `json:"reviews,omitempty"`
	Reviewed bool       `json:"reviewed,omitempty"`  // a review accepted the last work
	Rejected int        `json:"rejected,omitempty"`  // replies to the work that did not have the right format
	SentBack int        `json:"sent_back,omitempty"` // reviews that sent the work back
	Restarts int        `json:"restarts,omitempty"`  // agents at the work that the watch ended
	Used     flow.Tally `json:"used"`                // time, tokens and cost of the tries and reviews
	// Said is the message of the last reply, if that was not ok. After an attempt without a valid
	// reply it is the last line on stderr.
	Said string `json:"said,omitempty"`
	Why  string `json:"why,omitempty"` // why the task is not done; "": it is, or was never worked on
	Who  Who    `json:"who"`           // who has to act before the task is done
	// Left says how a task with steps left the list: dropped, replaced or taken_off; "": it is on
	// the list.
	Left TaskState `json:"left,omitempty"`

	Seen  string `json:"-"` // path of the task in the journal; "" if it was never worked on
	aside string // status with which the task is set aside; "": it is not
	spoke int    // place of Said in the order in which all agents spoke
	order int    // place in the order in which agents began
}

// TaskState is where a task stands.
type TaskState string

// The states of a task.
const (
	Done        TaskState = "done"        // done according to the last reply, the list, the file or a person
	DoneBefore  TaskState = "done_before" // done when the first run began
	Settled     TaskState = "settled"     // a person decided that the board goes on without it
	NotOK       TaskState = "not_ok"      // the last reply was not ok, or the run ended at it
	SetAside    TaskState = "set_aside"   // the board goes on without it, and the next run tries it again
	Quarantined TaskState = "quarantined" // in quarantine, because a loop is suspected
	Working     TaskState = "working"     // an agent, or the Manager behind it, is at work
	InReview    TaskState = "review"      // an agent or a command reviews the work
	StoppedAt   TaskState = "stopped"     // a stopped or killed run worked on it; the next run goes on
	NextUp      TaskState = "next"        // the board's current task, which no step has begun
	Waiting     TaskState = "waiting"     // never worked on
	Dropped     TaskState = "dropped"     // the Manager took it off the list before it was done
	Replaced    TaskState = "replaced"    // off the list, with others in its place; a person or a new plan did that

	takenOff TaskState = "taken_off" // of a task that was done when it left the list
)

// Words returns the state for a person.
func (s TaskState) Words() string {
	return cmp.Or(stateWords[s], strings.ReplaceAll(string(s), "_", " "))
}

// stateWords has the states whose name is not what a person reads.
var stateWords = map[TaskState]string{
	Settled:  "skipped",
	Working:  "at work",
	InReview: "in review",
	Waiting:  "to do",
	Dropped:  "taken off the list undone",
	Replaced: "off the list",
}

// IsDone reports whether a task in this state needs no more work.
func (s TaskState) IsDone() bool { return s == Done || s == DoneBefore }

// IsOpen reports whether work on the task began, and did not end well.
func (s TaskState) IsOpen() bool {
	return s == NotOK || s == SetAside || s == Quarantined || s == Dropped || s == Settled
}

// Counts reports whether the task counts among those of the board. A task that left the list counts
// only if the Manager took it off undone.
func (t *Task) Counts() bool { return t.Left == "" || t.Left == Dropped }

// begin notes the role of a step. A task in quarantine is given to the Manager, but keeps its own role.
func (t *Task) begin(role string) {
	if role != event.ManagerRole || t.Role == "" {
		t.Role = role
	}
}

// say notes the last words of a task's agent.
func (f *Fold) say(task, text string) {
	f.words++
	t := f.taskOf(task)
	t.Said, t.spoke = cut(text), f.words
}

// list returns the tasks in the order of the board's list, then the dropped tasks, then those with
// steps that left the list otherwise.
func (f *Fold) list(facts *Facts, h *flow.History, b *Board) []Task {
	l, s := facts.List, &h.State
	if l.Find == nil { // the board cannot be read
		return nil
	}
	all := make([]Task, len(l.Paths))
	statuses := s.StatusesOn(l)
	for i, status := range statuses {
		all[i] = Task{Task: l.Paths[i], State: stateOf(status, l.Marked(i), func() bool { return l.Done(i) })}
		if status == flow.StatusAccepted || status == flow.StatusSkipped {
			all[i].Status = status
		}
	}
	var left []Task
	for _, known := range f.tasksSeen() {
		i := l.Find(known.Task)
		if i < 0 {
			left = append(left, gone(*known))
			continue
		}
		k := *known
		if k.Status != "" && statuses[i] == "" && (s.Step == nil || s.Step.Task != k.Task) {
			k.Status, k.Said, k.Why, k.Reviewed = "", "", "", false // the last reply does not count any more
		}
		k.Seen, k.Task, k.State = k.Task, all[i].Task, all[i].State
		k.Status = cmp.Or(all[i].Status, k.Status)
		all[i] = k
	}
	for _, task := range s.StillDropped(l) {
		t := Task{Task: task}
		if i := slices.IndexFunc(left, func(t Task) bool { return t.Seen == task }); i >= 0 {
			t = left[i]
			left = slices.Delete(left, i, i+1)
		}
		t.State, t.Left = Dropped, Dropped
		all = append(all, t)
	}
	f.place(all, facts, h, b)
	all = append(all, left...)
	for i := range all {
		all[i].explain(b)
	}
	return all
}

// gone returns a task that is not on the list any more.
func gone(t Task) Task {
	t.Seen = t.Task
	if t.State, t.Left = Replaced, Replaced; t.Status == flow.StatusOK {
		t.State, t.Left = Done, takenOff
	}
	return t
}

// place sets the states that follow from the open step, from what is set aside and from quarantine.
func (f *Fold) place(all []Task, facts *Facts, h *flow.History, b *Board) {
	s := &h.State
	set := func(task string, state TaskState) {
		if i := facts.List.Find(task); i >= 0 {
			all[i].State = state
		}
	}
	for _, a := range facts.asides(s) {
		if i := facts.List.Find(a.Task); i >= 0 && !all[i].State.IsDone() {
			all[i].State, all[i].Why, all[i].aside = SetAside, cut(a.Text), a.Status
		}
	}
	if s.Step == nil && facts.Current != "" {
		if i := facts.List.Find(facts.Current); i >= 0 {
			all[i].State = nextOr(all[i].State)
		}
	}
	if step := s.Step; step != nil && step.Checkpoint == nil {
		set(step.Task, stateAt(step, b))
	}
	for _, q := range s.Quarantine {
		set(q.Task, Quarantined)
	}
}

// nextOr returns the state of the board's current task while no step is open.
func nextOr(s TaskState) TaskState {
	if s == NotOK || s == SetAside || s == Settled {
		return s
	}
	return NextUp
}

// stateAt returns the state of the task of the open step.
func stateAt(step *flow.Step, b *Board) TaskState {
	switch {
	case b.IsAtWork() && step.Call.IsReview():
		return InReview
	case b.IsAtWork():
		return Working
	case b.Who == Decide || step.TaskStatus != "" && step.TaskStatus != flow.StatusOK:
		return NotOK // the run ended at this task
	default:
		return StoppedAt
	}
}

// explain sets why a task is not done, and who has to act.
func (t *Task) explain(b *Board) {
	t.Who = Nobody
	switch {
	case t.State.IsDone(), t.Left == Replaced, t.State == Settled:
		t.Why = ""
	case t.State == Quarantined:
		t.Why, t.Who = b.quarantined(cmp.Or(t.Seen, t.Task)), Decide
	case t.State == SetAside:
		t.Who = Decide
		if t.aside == flow.StatusLimit {
			t.Who = RunAgain
		}
	case t.State == NotOK && t.Seen != b.Reason.Where && t.Status != "":
		t.Why, t.Who = t.replied(), b.Who
	case t.State == NotOK || t.State == StoppedAt:
		t.Why, t.Who = b.Reason.Said, b.Who
	case t.State == Dropped:
		t.Why, t.Who = Dropped.Words(), b.Who
	case b.State == Ended && (t.State == Waiting || t.State == NextUp):
		t.Who = b.Who
	}
	if b.IsAtWork() {
		t.Who = Nobody
	}
}

// replied returns what the agent of a task replied that is not ok.
func (t *Task) replied() string {
	text := t.Role + " replied " + t.Status
	if t.Said != "" {
		text += ": " + t.Said
	}
	return text
}

// stateOf returns the state of a task that is not current, set aside or in quarantine. The parameter
// status is the status that the task got last.
func stateOf(status string, marked bool, headed func() bool) TaskState {
	last := flow.TaskStatus{Status: status}
	switch {
	case status == flow.StatusBefore:
		return DoneBefore
	case last.IsDone(), marked, headed():
		return Done
	case status == flow.StatusSkipped:
		return Settled
	case status == "":
		return Waiting
	default:
		return NotOK
	}
}

// Find returns the place of a journaled task in Tasks, or -1.
func (b *Board) Find(task string) int {
	clean := path.Clean(task)
	return slices.IndexFunc(b.Tasks, func(t Task) bool { return path.Clean(cmp.Or(t.Seen, t.Task)) == clean })
}

// TaskOf returns the task with this path in the journal, or nil.
func (b *Board) TaskOf(task string) *Task {
	if i := b.Find(task); i >= 0 {
		return &b.Tasks[i]
	}
	return nil
}
