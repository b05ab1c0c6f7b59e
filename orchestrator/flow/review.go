package flow

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// applyReviewHeld makes the next call due. Accepted work goes to the next review, or after the last
// review to the Manager. Other work goes back to its agent (seed 003, "Supervisor Phase → Agent
// Phase") until the rounds of the plan are used up. Then a person is needed.
func (s *State) applyReviewHeld(e event.ReviewHeld) error {
	if !e.Call.IsReview() {
		return refuse(e, "a %s call has no verdict", e.Call)
	}
	if err := s.endAttempt(e, e.AttemptRef, e.Millis, e.Spent, e.Session); err != nil {
		return err
	}
	s.Refused = nil
	step := s.Step
	step.Left = e.Left
	if !e.Completed && e.Finding != "" {
		step.Reviews = append(slices.Clip(step.Reviews), Visit{Role: string(e.Call), Tree: e.Tree, Finding: e.Finding})
		step.Reviews = step.Reviews[max(0, len(step.Reviews)-mostVisits):]
	}
	next := step.Plan.After(e.Call)
	switch {
	case e.Completed && next != "":
		step.begin(next)
	case e.Completed:
		step.TaskStatus = step.Work.Status
		step.callManager()
	case step.Round > step.Plan.Rounds:
		step.Unsettled = fmt.Sprintf(
			"%s is not content after %s: %s (the next run starts the task afresh; review_rounds of "+
				"the role says how often work may be sent back)",
			e.Player(), event.Count(step.Round, "round"), e.Feedback)
	default:
		step.Round++
		step.Feedback = e.Feedback
		step.begin(event.TaskCall)
	}
	return nil
}

// notAccepted returns the failure of a step that waits for a person, because the reviews have not
// accepted its work, or because the work is in quarantine. It returns nil for any other step.
func (s *State) notAccepted() *failure {
	step := s.Step
	if step.Unsettled == "" || step.isStuck() {
		return nil
	}
	by := event.ByReview
	if strings.HasPrefix(step.Unsettled, suspectedPrefix) {
		by = event.ByLoop
	}
	return &failure{Finish{Outcome: event.NeedsPerson, By: by, Text: event.Headline(step.Unsettled)}, StatusNotAccepted, true}
}
