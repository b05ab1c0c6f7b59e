package flow

import (
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

func (s *State) applyRebootTested(e event.RebootTested) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	if e.Decision.Spares() {
		return nil
	}
	s.Step.Hung = &Hung{Anomaly: e.Key(), Decision: e.Decision, Text: e.Text}
	if e.Decision == event.Replan {
		s.Step.Hung.Found = &e.Anomaly
	}
	return nil
}

// endHung carries out the watch's decision about an attempt that was ended. cut is the step as it was
// before the end. Stuck needs a person, and Replan calls the Manager. Otherwise the next attempt goes
// on in the session of the ended one, or starts afresh with the reason as advice.
func (s *State) endHung(cut *Step) {
	h, step := cut.Hung, s.Step
	switch {
	case h == nil:
	case h.Decision == event.Stuck:
		step.Unsettled = stuckPrefix + h.Text
	case h.Decision == event.Replan:
		s.Replanned = append(slices.Clip(s.Replanned), step.Task)
		step.TaskStatus = "blocked"
		step.callManager()
		step.Anomaly = h.Found
	default:
		step.Restarts++
		step.Advice, step.LastHung = h.Text, h.Anomaly
		if step.GoesOn == nil {
			step.dropInputForAdvice()
		}
	}
}

// stuck returns the failure of a step that an agent that hung has stopped, or nil.
func (s *State) stuck() *failure {
	if !s.Step.isStuck() {
		return nil
	}
	return &failure{Finish{Outcome: event.NeedsPerson, By: event.ByWatch, Text: event.Headline(s.Step.Unsettled)}, StatusStuck, false}
}

// ReplannedTimes returns the number of times that the Manager was asked, under these limits, for
// another plan of a task.
func (s *State) ReplannedTimes(task string) int {
	n := 0
	for _, t := range s.Replanned {
		if t == task {
			n++
		}
	}
	return n
}

// WasRestartedFor reports whether the last restart of the call was due to a finding of this check.
// The tool in the finding does not matter.
func (s *Step) WasRestartedFor(check string) bool {
	return s.LastHung == check || strings.HasPrefix(s.LastHung, check+" ")
}

// IsReplanned reports whether the running attempt is over for the watch, and the Manager plans anew.
func (s *Step) IsReplanned() bool { return s.Hung != nil && s.Hung.Decision == event.Replan }

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

// Consent is the watch's proposal of a decision about a running agent. A person, the Coordinator,
// has to approve the decision. No member of the team is ended without the Coordinator's consent
// (seed 000, "禁止操作").
type Consent struct {
	Decision event.Decision `json:"decision"` // the proposed decision
	Text     string         `json:"text"`     // the reason for the proposal
}
