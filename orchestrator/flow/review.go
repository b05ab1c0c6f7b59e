package flow

import (
	"fmt"
	"path"
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
		s.remark(e)
		step.begin(next)
	case e.Completed:
		s.remark(e) // a review by a supervisor leaves that of the command before it
		step.TaskStatus = step.Work.Status
		step.callManager()
	case step.Round > step.Plan.Rounds:
		step.Unsettled = fmt.Sprintf("%s is not content after %s: %s", e.Player(), event.Count(step.Round, "round"), e.Excerpt())
	default:
		step.Round++
		step.Feedback = e.Feedback
		step.begin(event.TaskCall)
	}
	return nil
}

// AsksOfReview reports whether the step waits for a person because the command that reviews its work was
// changed, and was not started.
func (s *Step) AsksOfReview() bool {
	return s != nil && s.Call == event.CommandCall && s.Running == 0 && s.Unsettled == ""
}

// Remark says about the last acceptance of a task that its review was changed before.
type Remark struct {
	Task string `json:"task"`
	Text string `json:"text"`
}

// mostRemarks bounds the remarks that a State keeps. The earliest ones go first.
const mostRemarks = 200

// remark keeps what a command that accepts work says of itself.
func (s *State) remark(e event.ReviewHeld) {
	if e.Changed != "" {
		s.forgetRemark(e.Task)
		s.Remarks = append(slices.Clip(s.Remarks), Remark{e.Task, e.Task + " was accepted by " + e.Command + ": " + e.Changed})
		s.Remarks = s.Remarks[max(0, len(s.Remarks)-mostRemarks):]
	}
}

func (s *State) forgetRemark(task string) {
	s.Remarks = slices.DeleteFunc(slices.Clone(s.Remarks), func(r Remark) bool { return path.Clean(r.Task) == path.Clean(task) })
}

// remarks returns in words what was remarked about acceptances; "": nothing.
func (s *State) remarks() string {
	var all []string
	for _, r := range s.Remarks {
		all = append(all, r.Text)
	}
	return event.List(all, 3)
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
