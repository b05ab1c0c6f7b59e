package flow

import (
	"cmp"

	"kanban-run/orchestrator/event"
)

// Walk has walk decide what follows a task, and writes it onto the board: a Manager's call that
// starts no program.
type Walk struct{ Spawn Spawn }

// applyManagerWalked takes a decision of walk. One that was not written before its run died is made
// anew, on the board as it is.
func (s *State) applyManagerWalked(e event.ManagerWalked) error {
	step := s.Step
	if step == nil || step.Number != e.Step || step.Call != event.ManagerCall || step.Running != 0 ||
		step.Reply != nil && step.Walked == nil {
		return refuse(e, "step %d waits for no Manager", e.Step)
	}
	step.Walked, step.Before = &e, &event.Baseline{BoardSHA: e.Before, Current: e.Current}
	step.Reply = &event.ReplyAccepted{
		AttemptRef: event.AttemptRef{Step: e.Step, Call: event.ManagerCall, Task: e.Task, Role: event.ManagerRole},
		Status:     e.Status,
		Message:    e.Message,
		NextTask:   e.NextTask,
	}
	return nil
}

// start returns e, or Walk where walk plays the Manager.
func (s *State) start(e Spawn) Effect {
	if e.Call == event.ManagerCall && cmp.Or(s.Substitute(), s.Manager) == event.Walker {
		return Walk{e}
	}
	return e
}
