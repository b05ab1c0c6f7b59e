package flow

import (
	"fmt"
	"strings"
	"time"
)

// Limits are what a run may use, as journaled when it starts. Zero is no limit, but for MaxRetries.
type Limits struct {
	MaxRetries     int   `json:"max_retries"` // attempts after the first one, for each call; seed 004: 3
	MaxSteps       int   `json:"max_steps"`
	MaxCost        int64 `json:"max_cost_microusd,omitempty"`
	MaxMillis      int64 `json:"max_duration_millis,omitempty"` // that agents work
	MaxTaskSteps   int   `json:"max_task_steps,omitempty"`      // of one task, as the next two
	MaxTaskCost    int64 `json:"max_task_cost_microusd,omitempty"`
	MaxTaskMillis  int64 `json:"max_task_duration_millis,omitempty"`
	MaxAttemptCost int64 `json:"max_attempt_cost_microusd,omitempty"` // held by the agents themselves, as far as they can
}

// OfCost names the settings that only agents which tell their cost can keep to.
func (l Limits) OfCost() []string {
	var names []string
	if l.MaxCost > 0 {
		names = append(names, "max_cost")
	}
	if l.MaxTaskCost > 0 {
		names = append(names, "max_task_cost")
	}
	return names
}

// String names the limits of what a run and its tasks may use: "$5.00, 1h, 10 steps; of a task
// $1.00". "" when there are none.
func (l Limits) String() string {
	run := listed(l.MaxCost, l.MaxMillis, l.MaxSteps)
	if task := listed(l.MaxTaskCost, l.MaxTaskMillis, l.MaxTaskSteps); task != "" {
		return strings.TrimPrefix(run+"; of a task "+task, "; ")
	}
	return run
}

func listed(cost, millis int64, steps int) string {
	var said []string
	if cost > 0 {
		said = append(said, Dollars(cost))
	}
	if millis > 0 {
		said = append(said, Span(millis))
	}
	if steps > 0 {
		said = append(said, Count(steps, "step"))
	}
	return strings.Join(said, ", ")
}

// Reached says which limit lets no agent work on the task any more, or "". Steps are not asked for:
// an open step is finished.
func (s *State) Reached(task string) string {
	l, t := s.Limits, s.task(task).Used
	switch {
	case l.MaxCost > 0 && s.Used.Cost >= l.MaxCost:
		return fmt.Sprintf("the limit of %s (max_cost) is reached: %s used", Dollars(l.MaxCost), s.Used.Money())
	case l.MaxMillis > 0 && s.Used.Millis >= l.MaxMillis:
		return fmt.Sprintf("the limit of %s (max_duration) is reached: agents worked %s", Span(l.MaxMillis), Span(s.Used.Millis))
	case l.MaxTaskCost > 0 && t.Cost >= l.MaxTaskCost:
		return fmt.Sprintf("the limit of %s for a task (max_task_cost) is reached by %s: %s used", Dollars(l.MaxTaskCost), task, t.Money())
	case l.MaxTaskMillis > 0 && t.Millis >= l.MaxTaskMillis:
		return fmt.Sprintf("the limit of %s for a task (max_task_duration) is reached by %s: agents worked %s", Span(l.MaxTaskMillis), task, Span(t.Millis))
	default:
		return ""
	}
}

// NearLimits says of which limits at least 80 % is used, and not all: those of the run, and those
// of a task for the open step's.
func (s *State) NearLimits() (texts []string) {
	l, task, t := s.Limits, "", TaskUse{}
	if s.Step != nil {
		task = s.Step.Task
		t = s.task(task)
	}
	near := func(used, most int64) bool { return most > 0 && used < most && used >= most-most/5 }
	note := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	if near(s.Used.Cost, l.MaxCost) {
		note("80 %% of the limit of %s (max_cost) is used", Dollars(l.MaxCost))
	}
	if near(s.Used.Millis, l.MaxMillis) {
		note("80 %% of the limit of %s (max_duration) is used", Span(l.MaxMillis))
	}
	if near(int64(s.Steps), int64(l.MaxSteps)) {
		note("80 %% of the limit of %s (max_steps) is used", Count(l.MaxSteps, "step"))
	}
	if near(t.Used.Cost, l.MaxTaskCost) {
		note("80 %% of the limit of %s for a task (max_task_cost) is used by %s", Dollars(l.MaxTaskCost), task)
	}
	if near(t.Used.Millis, l.MaxTaskMillis) {
		note("80 %% of the limit of %s for a task (max_task_duration) is used by %s", Span(l.MaxTaskMillis), task)
	}
	if near(int64(t.Steps), int64(l.MaxTaskSteps)) {
		note("80 %% of the limit of %s for a task (max_task_steps) is used by %s", Count(l.MaxTaskSteps, "step"), task)
	}
	return texts
}

// reachedSteps says which limit lets no other step begin with the task, or "".
func (s *State) reachedSteps(task string) string {
	l := s.Limits
	switch {
	case l.MaxSteps > 0 && s.Steps >= l.MaxSteps:
		return fmt.Sprintf("the limit of %s is reached", Count(l.MaxSteps, "step"))
	case l.MaxTaskSteps > 0 && s.task(task).Steps >= l.MaxTaskSteps:
		return fmt.Sprintf("the limit of %s for a task (max_task_steps) is reached by %s", Count(l.MaxTaskSteps, "step"), task)
	default:
		return ""
	}
}

// TimeLeft is how long an agent may work on the open step until a limit is reached; limited is
// false where none is set.
func (s *State) TimeLeft() (left time.Duration, limited bool) {
	if s.Step == nil {
		return 0, false
	}
	used := s.task(s.Step.Task).Used
	for _, of := range [...]struct{ most, used int64 }{{s.Limits.MaxMillis, s.Used.Millis}, {s.Limits.MaxTaskMillis, used.Millis}} {
		if of.most == 0 {
			continue
		}
		if d := span(max(0, of.most-of.used)); !limited || d < left {
			left, limited = d, true
		}
	}
	return left, limited
}

func span(millis int64) time.Duration { return time.Duration(millis) * time.Millisecond }

// Span renders milliseconds as a person would write them: 10m, 1h30m, 2.5s.
func Span(millis int64) string {
	s := span(millis).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
