package flow

import (
	"kanban-run/orchestrator/event"
)

// Reassign gives the open call to the next substitute in the settings.
type Reassign struct {
	Step   int
	Number int // the agent's number among the substitutes, from 1
	To     string
	Reason string
}

func (Reassign) effect() {}

func (s *State) applyReassigned(e event.Reassigned) error {
	step := s.Step
	if step == nil || step.Number != e.Step || step.Running != 0 || step.Reply != nil || step.Call != e.Call {
		return refuse(e, "step %d has no call that could be given to another agent", e.Step)
	}
	if step.Advice != "" { // the advice was a part of the input
		step.Input, step.Stored = nil, ""
	}
	s.Refused = nil
	step.Agent, step.GoesOn, step.Unsettled, step.Disagreed = e.Number, nil, "", false
	step.Rejected, step.Lost, step.Restarts, step.LastHung, step.Advice, step.TimedOut = 0, 0, 0, "", "", 0
	step.forgetDeclined()
	return nil
}

// handOver returns the effect that gives the failed open call to the next substitute. It returns nil if
// no substitute is left, or if the given end of the run freezes the board.
func (s *State) handOver(end Finish) Effect {
	if number, to := s.substitute(); number > 0 && end.Outcome != event.Frozen {
		return Reassign{Step: s.Step.Number, Number: number, To: to, Reason: end.Text}
	}
	return nil
}

// substitute returns the next substitute for the open call. number is 0 if none is left. Work under
// review stays with its agent, because only that agent has the session of the work.
func (s *State) substitute() (number int, to string) {
	step := s.Step
	if step.Call != event.ManagerCall && (step.Call != event.TaskCall || step.Work != nil) {
		return 0, ""
	}
	if agents := s.substitutes(step.CallRole()); step.Agent < len(agents) {
		return step.Agent + 1, agents[step.Agent]
	}
	return 0, ""
}

// Successor returns the agent that takes the open call over if its agent is given up, or "".
func (s *State) Successor() string {
	_, to := s.substitute()
	return to
}

// Proposal returns what to propose to a person after the open call has ended the run. There is a
// proposal only for a call that used up its retries, was declined or hung. For any other call, and
// for a call of a supervisor, Proposal returns nil.
func (s *State) Proposal(end Finish) *event.ReassignProposed {
	step := s.Step
	if step == nil || step.Checkpoint != nil || step.Call.IsSupervision() ||
		end.Outcome != event.Exhausted && !step.isStuck() && step.Declined == "" {
		return nil
	}
	if step.AsksOfTool() && len(s.Tools) == 0 {
		return nil // an earlier run has proposed it, and this one only asked again
	}
	p := &event.ReassignProposed{
		Step: step.Number, Task: step.Task, Role: step.CallRole(), Evidence: end.Text, Strategy: event.Replace,
	}
	switch {
	case s.ReplannedTimes(step.Task) > 0:
		p.Strategy = event.SplitTask
	case step.AsksOfTool():
		p.Strategy = event.Specialist // an agent whose program has the tool
	}
	return p
}

// Reassigned returns the event that gives the open call to the next agent in the settings (seed 002, "Reassignment Readiness").
func (s *State) Reassigned(e Reassign) event.Reassigned {
	return event.Reassigned{Step: s.Step.Number, Task: s.Step.Task, Role: s.Step.CallRole(), Call: s.Step.Call, Number: e.Number, To: e.To, Reason: e.Reason}
}
