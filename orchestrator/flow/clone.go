package flow

import (
	"cmp"
	"path"
	"slices"

	"kanban-run/orchestrator/event"
)

// Clone is the clone in which the agents of a board work.
type Clone struct {
	Dir    string   `json:"dir"` // its top
	ID     string   `json:"id"`
	Ref    string   `json:"ref"`    // reference that holds the work
	Branch string   `json:"branch"` // the same for people
	From   string   `json:"from,omitempty"`
	Base   string   `json:"base"` // commit from which the first clone was made
	Ready  bool     `json:"ready,omitempty"`
	Out    []string `json:"out,omitempty"`   // paths from the top that go into no commit
	Tasks  []string `json:"tasks,omitempty"` // the same of the tasks that the board has listed

	// The last commit, and the task whose work it has: Task is "" for Base.
	Tip    string `json:"tip"`
	Parent string `json:"parent,omitempty"`
	Task   string `json:"task,omitempty"`

	Unmoved bool `json:"unmoved,omitempty"` // Branch stays where a person has put it, and only Ref has the work

	Asks   *event.CloneAsks `json:"asks,omitempty"`   // what a person may decide about it; nil: nothing
	Answer event.Choice     `json:"answer,omitempty"` // the decision about Asks; "": none yet

	Due *DueWork `json:"due,omitempty"` // accepted work that is in no commit yet; nil: none
	Was *DueWork `json:"was,omitempty"` // the work on Task that is in Tip
}

// DueWork is work that is to be a commit.
type DueWork struct {
	Steps   []int  `json:"steps"`
	Task    string `json:"task"`
	Role    string `json:"role"`
	Outcome string `json:"outcome"` // status of the work
	Message string `json:"message"` // last message of its agent
}

// Keep makes a commit of accepted work in a clone.
type Keep struct{ DueWork }

func (Keep) effect() {}

// keepWork makes a commit of what was accepted, before anything else is done.
func (s *State) keepWork(Board) Effect {
	if s.Clone == nil || s.Clone.Due == nil || !s.Clone.Ready {
		return nil
	}
	return Keep{*s.Clone.Due}
}

// owe notes that work was accepted, or that a task failed for good. What the Manager changes counts as that of the
// task about which it was asked.
func (s *State) owe(status, message string) {
	if s.Clone == nil || s.Step == nil {
		return
	}
	clone := *s.Clone
	due := DueWork{Steps: []int{s.Step.Number}, Task: s.Step.Task, Role: s.Step.Role, Outcome: status, Message: message}
	for _, before := range []*DueWork{clone.Due, clone.Was} {
		if before == nil || before.Task != due.Task {
			continue
		}
		due.Steps = slices.Compact(slices.Concat(before.Steps, due.Steps))
		if status == "" {
			due.Outcome, due.Message, due.Role = before.Outcome, before.Message, before.Role
		}
		break
	}
	clone.Due = &due
	s.Clone = &clone
}

// decide keeps the status that a person has given a task. If the last commit is that of the task, it is made anew.
func (s *State) decide(task, outcome string) {
	s.keepStatus(task, outcome)
	c := s.Clone
	if c == nil || c.Due != nil || c.Was == nil || path.Clean(c.Was.Task) != path.Clean(task) || c.Was.Outcome == outcome {
		return
	}
	clone, due := *c, *c.Was
	due.Outcome = outcome
	clone.Due = &due
	s.Clone = &clone
}

// IsAnswered reports whether a person has made this choice about what a run asked.
func (c *Clone) IsAnswered(why string, choice event.Choice) bool {
	return c != nil && c.Asks != nil && c.Asks.Why == why && c.Answer == choice
}

// IsOver reports whether what a run asked was about another board than the one that stands now.
func (c *Clone) IsOver(sha string) bool {
	return c != nil && c.Asks != nil && c.Asks.BoardSHA != "" && c.Asks.BoardSHA != sha
}

// askOfClone notes what a run asks about the clone; nil: nothing.
func (s *State) askOfClone(asks *event.CloneAsks) {
	if s.Clone == nil {
		return
	}
	clone := *s.Clone
	clone.Asks, clone.Answer = asks, ""
	s.Clone = &clone
}

// lookAtCloneAgain forgets a question that nobody has answered, for a new run looks again.
func (s *State) lookAtCloneAgain() {
	if c := s.Clone; c != nil && c.Asks != nil && (c.Answer == "" || c.Asks.Why == event.CloneTakenBack) {
		s.askOfClone(nil)
	}
}

// settleClone carries out a person's decision about the clone. The next run acts by it.
func (s *State) settleClone(e event.Acknowledged) error {
	if s.Clone == nil || s.Clone.Asks == nil {
		return refuse(e, "nothing is asked about a clone")
	}
	clone := *s.Clone
	clone.Answer = e.Choice
	s.Clone = &clone
	if e.Choice == event.Accept && clone.Asks.Why == event.CloneTakenBack {
		s.Last.BoardSHA = e.BoardSHA
		if s.Step != nil {
			s.Step.BoardSHA, s.Step.Left = e.BoardSHA, e.BoardSHA
		}
	}
	s.endAsDecided(event.Interrupted, e.Text)
	return nil
}

// redo makes the work of the open step due again if it is the given one: it was lost with a clone.
func (s *State) redo(number int) {
	step := s.Step
	if step == nil || step.Number != number || step.Reply != nil || step.Anomaly != nil || step.Checkpoint != nil || step.Role == event.ManagerRole {
		return
	}
	step.beginWork()
	step.TaskStatus, step.Files, step.Unsettled = "", nil, ""
}

func (s *State) applyCloneMade(e event.CloneMade) error {
	if s.Step != nil && s.Step.Running != 0 {
		return refuse(e, "an attempt is running")
	}
	made := Clone{Dir: e.Dir, ID: e.ID, Ref: e.Ref, Branch: e.Branch, From: e.From, Base: e.Tip, Tip: e.Tip}
	if was := s.Clone; was != nil && was.Task != "" {
		made.Base, made.Parent, made.Task, made.Was, made.Tasks = was.Base, was.Parent, was.Task, was.Was, was.Tasks
	} else {
		s.Landing = nil // it was about other work
	}
	s.Clone = &made
	s.redo(e.Lost)
	return nil
}

func (s *State) applyCloneReady(e event.CloneReady) error {
	if s.Clone == nil {
		return refuse(e, "there is no clone")
	}
	clone := *s.Clone
	clone.Ready, clone.Out, clone.Branch = true, e.Files, cmp.Or(e.Branch, clone.Branch)
	s.Clone = &clone
	return nil
}

func (s *State) applyWorkKept(e event.WorkKept) error {
	if s.Clone == nil || s.Clone.Due == nil || s.Clone.Due.Task != e.Task {
		return refuse(e, "no work on %s is due", e.Task)
	}
	clone := *s.Clone
	if !e.Unchanged {
		clone.Tip, clone.Parent, clone.Task = e.Tip, e.Parent, e.Task
		if !s.Landing.IsOut() {
			s.Landing = nil
		}
	}
	clone.Tasks = append(slices.Clip(clone.Tasks), e.Tasks...)
	if clone.Task == clone.Due.Task {
		clone.Was = clone.Due
	}
	clone.Due, clone.Unmoved, clone.Asks, clone.Answer = nil, e.Unmoved, nil, ""
	s.Clone = &clone
	return nil
}
