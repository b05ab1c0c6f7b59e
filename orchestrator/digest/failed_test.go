package digest_test

import (
	"slices"
	"testing"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
)

// TestFailedSteps: a task that failed fails in the last step in which an agent worked on it, and not in one of the
// Manager alone.
func TestFailedSteps(t *testing.T) {
	step := func(n int, task string, calls ...event.Call) digest.Step {
		s := digest.Step{Step: n, Task: task}
		for _, c := range calls {
			s.Attempts = append(s.Attempts, digest.Attempt{Call: c})
		}
		return s
	}
	d := digest.Digest{Failed: []string{"b.md", "a.md", "gone.md"}, Steps: []digest.Step{
		step(1, "a.md", event.TaskCall, event.ManagerCall),
		step(2, "b.md", event.TaskCall),
		step(3, "a.md", event.TaskCall, event.ReviewCall, event.ManagerCall, event.ManagerCall),
		step(4, "a.md", event.ManagerCall),
		step(5, "b.md"),
	}}
	var got []int
	for _, s := range d.FailedSteps() {
		got = append(got, s.Step)
	}
	if want := []int{2, 3}; !slices.Equal(got, want) {
		t.Errorf("FailedSteps = %v, want %v", got, want)
	}
	if a := d.Steps[2].Work(); a == nil || a.Call != event.ReviewCall {
		t.Errorf("Work = %+v, want the review", a)
	}
	if a := d.Steps[3].Work(); a != nil {
		t.Errorf("Work = %+v, want none in a step of the Manager alone", a)
	}
}

// TestRejections: replies without the right format are counted, and no other attempts.
func TestRejections(t *testing.T) {
	s := digest.Step{Attempts: []digest.Attempt{{Result: digest.Rejected}, {Result: digest.Accepted}, {Result: digest.Stopped}, {Result: digest.Rejected}, {Result: digest.Rejected}}}
	if got := s.Rejections(); got != 3 {
		t.Errorf("Rejections = %d, want 3", got)
	}
}
