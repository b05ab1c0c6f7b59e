package flow

import "kanban-run/orchestrator/event"

func (s *State) applyPushFailed(e event.PushFailed) error {
	s.Unpushed = e.Reason
	return nil
}

func (s *State) applyPushed(event.Pushed) error {
	s.Unpushed = ""
	return nil
}
