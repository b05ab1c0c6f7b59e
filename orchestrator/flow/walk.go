package flow

import (
	"kanban-run/orchestrator/event"
)

// Walk performs the Manager's call without a program. Package walk decides what follows the task,
// and the run writes the decision onto the board.
type Walk struct{ Spawn Spawn }

// applyManagerWalked uses a decision of package walk as the Manager's reply. It replaces the
// decision of an earlier run that died before it wrote its decision onto the board.
func (s *State) applyManagerWalked(e event.ManagerWalked) error {
	step := s.Step
	if step == nil || step.Number != e.Step || step.Call != event.ManagerCall || step.Running != 0 ||
		step.Reply != nil && step.Walked == nil {
		return refuse(e, "step %d waits for no Manager", e.Step)
	}
	s.BlockedBy = ""
	s.ByNeeds = s.ByNeeds || e.ByNeeds // an agent can have added a field "needs" since the run started
	step.Walked, step.Before = &e, &event.Baseline{BoardSHA: e.Before, Current: e.Current}
	step.Reply = &event.ReplyAccepted{
		AttemptRef: event.AttemptRef{Step: e.Step, Call: event.ManagerCall, Task: e.Task, Role: event.ManagerRole},
		Status:     e.Status,
		Message:    e.Message,
		NextTask:   e.NextTask,
	}
	return nil
}
