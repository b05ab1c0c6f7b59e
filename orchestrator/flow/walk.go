package flow

import "cmp"

// Walker is the adapter that is no program: the run itself plays the Manager.
const Walker = "walk"

// Walk has walk decide what follows a task, and writes it onto the board: a Manager's call that
// starts no program.
type Walk struct{ Spawn }

// ManagerWalked is the decision of walk, and the intent to write it onto the board.
type ManagerWalked struct {
	Step     int     `json:"step"`
	Task     string  `json:"task"`
	Status   string  `json:"status"`
	Message  string  `json:"message" text:"free"`
	NextTask *string `json:"next_task"`
	Marked   bool    `json:"marked,omitempty"`              // the task is marked as done
	Warning  string  `json:"warning,omitempty" text:"free"` // the board cannot say how it ended
	Before   string  `json:"before_sha256"`                 // the board that it was decided on
	After    string  `json:"after_sha256"`                  // and as the decision leaves it
}

// Kind is the record's type in the journal.
func (ManagerWalked) Kind() string { return "MANAGER_WALKED" }

// Subject is the task.
func (e ManagerWalked) Subject() string { return e.Task }

// A decision that was not written before its run died is made anew, on the board as it is.
func (e ManagerWalked) apply(s *State) error {
	step := s.Step
	if step == nil || step.Number != e.Step || step.Call != ManagerCall || step.Running != 0 || step.Reply != nil && step.Walked == nil {
		return refuse(e, "step %d waits for no Manager", e.Step)
	}
	step.Walked, step.Before = &e, &Baseline{BoardSHA: e.Before}
	step.Reply = &ReplyAccepted{AttemptRef: AttemptRef{Step: e.Step, Call: ManagerCall, Task: e.Task, Role: ManagerRole}, Status: e.Status, Message: e.Message, NextTask: e.NextTask}
	return nil
}

// start is a spawn, or what stands for it where walk plays the Manager.
func (s *State) start(e Spawn) Effect {
	if e.Call == ManagerCall && cmp.Or(s.Substitute(), s.Manager) == Walker {
		return Walk{e}
	}
	return e
}
