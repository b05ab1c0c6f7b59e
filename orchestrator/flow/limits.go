package flow

import (
	"cmp"
	"fmt"
	"time"

	"kanban-run/orchestrator/event"
)

// atOwnLimit returns the failure of a call whose role has reached a limit, or nil.
func (s *State) atOwnLimit() *failure {
	if s.Step.OwnLimit == "" {
		return nil
	}
	return &failure{Finish{Outcome: event.LimitReached, By: event.ByTaskLimit, Text: s.Step.OwnLimit}, StatusLimit, true}
}

// endAtLimit ends a run that has reached a limit of cost or time, before the next attempt.
func (s *State) endAtLimit(b Board) Effect {
	if text := cmp.Or(b.Bound, s.reached()); text != "" && s.Step.isDue() {
		return Finish{Outcome: event.LimitReached, Text: text}
	}
	return nil
}

// atTaskLimit returns the failure of a call whose task has reached a limit of cost or time, or nil. On
// a board that goes on without a task the Manager is called all the same.
func (s *State) atTaskLimit() *failure {
	step := s.Step
	text := s.reachedBy(step.Task)
	if text == "" || !step.isDue() || !step.IsWork() && s.KeepGoing {
		return nil
	}
	return &failure{Finish{Outcome: event.LimitReached, By: event.ByTaskLimit, Text: text}, StatusLimit, true}
}

// endAtStepLimit ends a run that has reached a limit, before the next step.
func (s *State) endAtStepLimit(b Board) Effect {
	if text := cmp.Or(b.Bound, s.reachedSteps(b.Task), s.Reached(b.Task)); text != "" {
		return Finish{Outcome: event.LimitReached, Text: text}
	}
	return nil
}

// Reached returns in words the limit of cost or time that stops work on the task, or "". Limits of
// steps are left out. They forbid another step, and do not stop the open one.
func (s *State) Reached(task string) string { return cmp.Or(s.reached(), s.reachedBy(task)) }

// reached returns in words the limit of cost or time that the run has reached, or "".
func (s *State) reached() string {
	l := s.Limits
	switch {
	case l.MaxCost > 0 && s.Used.Cost >= l.MaxCost:
		return fmt.Sprintf("the limit of %s (max_cost) is reached: %s used", event.Dollars(l.MaxCost), s.Used.Money())
	case l.MaxMillis > 0 && s.Used.Millis+s.Waited >= l.MaxMillis:
		text := fmt.Sprintf("the limit of %s (max_duration) is reached: agents worked %s",
			event.Span(l.MaxMillis), event.Span(s.Used.Millis))
		if s.Waited > 0 {
			text += ", and waited " + event.Span(s.Waited) + " for their provider"
		}
		return text
	default:
		return ""
	}
}

// reachedBy returns in words the limit of cost or time that a task has reached, or "".
func (s *State) reachedBy(task string) string {
	l, t := s.Limits, s.task(task).Used
	switch {
	case l.MaxTaskCost > 0 && t.Cost >= l.MaxTaskCost:
		return fmt.Sprintf("the limit of %s for a task (max_task_cost) is reached by %s: %s used",
			event.Dollars(l.MaxTaskCost), task, t.Money())
	case l.MaxTaskMillis > 0 && t.Millis >= l.MaxTaskMillis:
		return fmt.Sprintf("the limit of %s for a task (max_task_duration) is reached by %s: agents worked %s",
			event.Span(l.MaxTaskMillis), task, event.Span(t.Millis))
	default:
		return ""
	}
}

// reachedSteps returns in words the limit of steps that forbids another step of the task, or "".
func (s *State) reachedSteps(task string) string {
	l := s.Limits
	switch {
	case l.MaxSteps > 0 && s.Steps >= l.MaxSteps:
		return fmt.Sprintf("the limit of %s is reached", event.Count(l.MaxSteps, "step"))
	case l.MaxTaskSteps > 0 && s.task(task).Steps >= l.MaxTaskSteps:
		return fmt.Sprintf("the limit of %s for a task (max_task_steps) is reached by %s",
			event.Count(l.MaxTaskSteps, "step"), task)
	default:
		return ""
	}
}

// NearLimits returns in words the limits that are used up by at least 80 %, but not reached.
// It looks at the limits of the run and, if a step is open, at the limits of its task.
func (s *State) NearLimits() (texts []string) {
	l, task, t := s.Limits, "", TaskUse{}
	if s.Step != nil {
		task = s.Step.Task
		t = s.task(task)
	}
	near := func(used, most int64) bool { return most > 0 && used < most && used >= most-most/5 }
	note := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	if near(s.Used.Cost, l.MaxCost) {
		note("80 %% of the limit of %s (max_cost) is used", event.Dollars(l.MaxCost))
	}
	if near(s.Used.Millis+s.Waited, l.MaxMillis) {
		note("80 %% of the limit of %s (max_duration) is used", event.Span(l.MaxMillis))
	}
	if near(int64(s.Steps), int64(l.MaxSteps)) {
		note("80 %% of the limit of %s (max_steps) is used", event.Count(l.MaxSteps, "step"))
	}
	if near(t.Used.Cost, l.MaxTaskCost) {
		note("80 %% of the limit of %s for a task (max_task_cost) is used by %s", event.Dollars(l.MaxTaskCost), task)
	}
	if near(t.Used.Millis, l.MaxTaskMillis) {
		note("80 %% of the limit of %s for a task (max_task_duration) is used by %s", event.Span(l.MaxTaskMillis), task)
	}
	if near(int64(t.Steps), int64(l.MaxTaskSteps)) {
		note("80 %% of the limit of %s for a task (max_task_steps) is used by %s",
			event.Count(l.MaxTaskSteps, "step"), task)
	}
	return texts
}

// TimeLeft returns the times until a limit of the run, and one of its task, end an agent's work on the
// open step. Each is 0 if there is no limit, if it is reached already, or if no step is open.
func (s *State) TimeLeft() (ofRun, ofTask time.Duration) {
	if s.Step == nil {
		return 0, 0
	}
	left := func(most, used int64) time.Duration {
		return time.Duration(max(0, most-used)) * time.Millisecond
	}
	return left(s.Limits.MaxMillis, s.Used.Millis+s.Waited),
		left(s.Limits.MaxTaskMillis, s.task(s.Step.Task).Used.Millis)
}
