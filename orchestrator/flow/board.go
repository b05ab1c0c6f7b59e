package flow

import (
	"cmp"

	"kanban-run/orchestrator/event"
)

func (s *State) applyBoardWriteStarted(e event.BoardWriteStarted) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Reply == nil {
		return refuse(e, "step %d has no accepted Manager reply", e.Step)
	}
	s.Step.Writing = &e
	return nil
}

func (s *State) applyBoardWritten(e event.BoardWritten) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Writing == nil {
		return refuse(e, "no board write was started in step %d", e.Step)
	}
	s.Step.Writing = nil
	return nil
}

func (s *State) applyBoardEnded(e event.BoardEnded) error {
	if s.Supervisor.Waits() == "" {
		return refuse(e, "no checkpoint stops the board")
	}
	s.Supervisor = s.Supervisor.clone()
	block := *s.Supervisor.Block
	block.Ended, block.Current, s.Supervisor.Block = e.BoardSHA, cmp.Or(e.Current, block.Current), &block
	return nil
}
