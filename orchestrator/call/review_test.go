package call

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/review"
)

// TestReviews: seed 003: a verdict is content or sends the work back, with its words.
func TestReviews(t *testing.T) {
	fails := contract.Failed("it printed without end")
	for name, tt := range map[string]struct {
		call      event.Call
		end       attempt.Ended
		completed bool
		feedback  string
	}{
		"content":           {event.ReviewCall, replied("fine\n" + review.Completed), true, ""},
		"not content":       {event.ReviewCall, replied("tests are missing: hunter2hunter2"), false, "tests are missing: [REDACTED"},
		"a command is":      {event.CommandCall, attempt.Ended{}, true, ""},
		"a command is not":  {event.CommandCall, attempt.Ended{Exit: proc.Exit{Code: 1}, Stdout: "FAIL x", Stderr: "why"}, false, "FAIL x"},
		"a command hangs":   {event.CommandCall, attempt.Ended{Failure: fails}, false, "it printed without end"},
		"the whole command": {event.CommandCall, attempt.Ended{Exit: proc.Exit{Code: 2}}, false, "make test"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(tt.call)
			a := r.start(t)
			got := r.end(t, a, tt.end).(event.ReviewHeld)
			if got.Completed != tt.completed || !strings.Contains(got.Feedback, tt.feedback) || strings.Contains(got.Feedback, "hunter2") || got.Left != r.board.SHA {
				t.Errorf("held %+v, want completed %t: %s", got, tt.completed, tt.feedback)
			}
			if (got.Finding != "") == got.Completed {
				t.Errorf("the finding of completed %t is %q", got.Completed, got.Finding)
			}
		})
	}
}
