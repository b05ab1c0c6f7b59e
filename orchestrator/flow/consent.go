package flow

import "kanban-run/orchestrator/event"

// Consent is a decision about a running agent that waits for a person, the Coordinator:
// seed 000, "禁止操作", no member is ended without the Coordinator.
type Consent struct {
	Decision event.Decision `json:"decision"` // that is proposed
	Text     string         `json:"text"`     // why
}

func (s *State) applyConsentAsked(e event.ConsentAsked) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Step.Consent = &Consent{e.Decision, e.Text}
	return nil
}

func (s *State) applyConsentGiven(e event.ConsentGiven) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Step.Consent = nil
	return nil
}
