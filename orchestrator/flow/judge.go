package flow

import (
	"kanban-run/orchestrator/event"
)

func (s *State) applyJudgeAsked(e event.JudgeAsked) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Step.Judge = &e
	return nil
}

func (s *State) applyJudgeAnswered(e event.JudgeAnswered) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	if s.Step.Judge = nil; e.Try > 0 {
		s.count(e.Millis, e.Spent)
	}
	return nil
}

// closeJudge returns the end of a judge's attempt that died with its run, or nil if no judge was
// running.
func (s *State) closeJudge() event.Event {
	if s.Step == nil || s.Step.Judge == nil {
		return nil
	}
	j := s.Step.Judge
	return event.JudgeAnswered{AttemptRef: j.AttemptRef, Judge: j.Judge, Adapter: j.Adapter, Command: j.Command, Try: j.Try,
		Reason: "the run died while the judge was at work"}
}
