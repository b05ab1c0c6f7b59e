package flow

import "kanban-run/orchestrator/event"

func (s *State) applyPushFailed(e event.PushFailed) error {
	s.Unpushed, s.UnpushedTo = e.Reason, e.Branch
	return nil
}

func (s *State) applyPushed(event.Pushed) error {
	s.Unpushed, s.UnpushedTo = "", ""
	return nil
}
