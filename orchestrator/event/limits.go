package event

import (
	"strings"
	"time"
)

// Limits are the limits of a run. They are journaled when the run starts. Zero means no limit,
// except in MaxRetries, BusyMillis and LimitMillis.
type Limits struct {
	MaxRetries int   `json:"max_retries"` // attempts of a call, without the first; 3 in seed 004
	MaxSteps   int   `json:"max_steps"`
	MaxCost    int64 `json:"max_cost_microusd,omitempty"`
	// MaxMillis bounds the agents' working time plus the waits for providers.
	MaxMillis int64 `json:"max_duration_millis,omitempty"`

	// The limits of one task.
	MaxTaskSteps  int   `json:"max_task_steps,omitempty"`
	MaxTaskCost   int64 `json:"max_task_cost_microusd,omitempty"`
	MaxTaskMillis int64 `json:"max_task_duration_millis,omitempty"`

	// MaxAttemptCost applies only to agents that can keep such a limit.
	MaxAttemptCost int64 `json:"max_attempt_cost_microusd,omitempty"`

	// BusyMillis bounds the sum of consecutive waits for a busy provider. LimitMillis bounds the
	// sum of consecutive waits for the end of an account's limit. If the bound is zero, the
	// run ends, and does not wait.
	BusyMillis  int64     `json:"patience_busy_millis,omitempty"`
	LimitMillis int64     `json:"patience_limit_millis,omitempty"`
	Until       time.Time `json:"until,omitzero"` // latest end of the run
}

// Patience returns the greatest wait for a provider that refused a call with this class.
func (l Limits) Patience(c Class) time.Duration {
	if c == ClassBusy {
		return span(l.BusyMillis)
	}
	return span(l.LimitMillis)
}

// OfCost returns the names of the cost limits that are set. These limits work only for agents
// that report their cost.
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

// String returns the limits of a run and of its tasks, such as "$5.00, 1h, 10 steps; of a task
// $1.00". It returns "" if no limit is set.
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
