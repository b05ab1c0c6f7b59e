package flow

import "kanban-run/orchestrator/event"

// Consent is a decision about a running agent that the watch proposes and that a person, the
// Coordinator, has to approve. No member of the team is ended without the Coordinator's consent
// (seed 000, "禁止操作").
type Consent struct {
	Decision event.Decision `json:"decision"` // the proposed decision
	Text     string         `json:"text"`     // the reason for the proposal
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
