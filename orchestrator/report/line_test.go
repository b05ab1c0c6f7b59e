package report

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
)

// TestLinesOfAReview: a review is an attempt of its own, and each line names the
// program that it is about.
func TestLinesOfAReview(t *testing.T) {
	review := event.AttemptRef{Step: 1, Call: event.ReviewCall, Role: "Implementor", Attempt: 2, Round: 1}
	work := event.AttemptRef{Step: 1, Call: event.TaskCall, Role: "Implementor", Attempt: 3, Round: 2}
	spent := &event.Spending{Input: 1200, Output: 200}
	for _, tt := range []struct {
		event event.Event
		want  string
	}{
		{event.AttemptStarted{AttemptRef: review, From: "s", Fork: true}, "step 1: the reviewer of Implementor looks at the work (round 1)"},
		{event.ReviewHeld{AttemptRef: review, Feedback: "tests are missing", End: event.End{Millis: 2000, Spent: spent}},
			"step 1: the reviewer of Implementor is not content (round 1, 2.0s) (1.2k in/200 out): tests are missing"},
		{event.ReviewHeld{AttemptRef: review, Completed: true, End: event.End{Millis: 2000}}, "step 1: the reviewer of Implementor accepts the work (round 1, 2.0s)"},
		{event.ReplyRejected{AttemptRef: review, Reason: "API Error: 500", Exit: "exit status 1", Of: 3},
			"step 1: the reviewer of Implementor, attempt 2, gave no verdict: API Error: 500 (exit status 1); retry 1 of 3"},
		{event.AttemptStopped{AttemptRef: review, Reason: "the run was stopped"}, "step 1: the reviewer of Implementor, attempt 2, stopped: the run was stopped"},
		{event.AttemptStarted{AttemptRef: work, From: "s"}, "step 1: Implementor goes on with the work (round 2)"},
		{event.ReplyRejected{AttemptRef: work, Reason: "not JSON", Exit: "not JSON", Of: 3}, "step 1: Implementor attempt 3 rejected: not JSON; retry 1 of 3"},
	} {
		lines := new(describer).describe(tt.event)
		if len(lines) != 1 || strings.TrimSpace(lines[0].String()) != tt.want {
			t.Errorf("%s: %v, want %q", tt.event.Kind(), lines, tt.want)
		}
	}
}

// TestNoticesOfACommand: what the boards of a command have in common is said once, and how each begins is said
// for each.
func TestNoticesOfACommand(t *testing.T) {
	var d describer
	var got []string
	for _, e := range []event.RunStarted{{Tasks: 1, NoGit: true, Withheld: []string{"A_TOKEN"}}, {Tasks: 2, NoGit: true, Withheld: []string{"A_TOKEN"}}} {
		for _, l := range d.describe(e) {
			got = append(got, l.Text)
		}
	}
	if all := strings.Join(got, "\n"); len(got) != 4 || strings.Count(all, event.NoGitText) != 1 || strings.Count(all, "A_TOKEN") != 1 {
		t.Errorf("said %q, want two begins, and each notice once", got)
	}
}
