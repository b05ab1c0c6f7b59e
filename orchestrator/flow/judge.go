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
