package digest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/flow"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fold adds events that happened a second apart.
func fold(d *digest.Digest, events ...flow.Event) {
	at := start
	if !d.Ended.IsZero() {
		at = d.Ended.Add(time.Second)
	}
	for i, e := range events {
		d.Add(flow.Entry{Time: at.Add(time.Duration(i) * time.Second), Event: e})
	}
}

func TestStepsOfAnInterruptedRun(t *testing.T) {
	var d digest.Digest
	next, cost := "b.md", int64(5)
	spent := &flow.Spending{Input: 30, Cached: 20, Output: 10, Cost: &cost}
	used := flow.Tally{Used: flow.Used{Attempts: 4, Told: 1, Priced: 1, Input: 30, Cached: 20, Output: 10, Cost: 5, Millis: 2400}}
	fold(&d,
		flow.RunStarted{Workdir: "/w"},
		flow.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Role: "Implementor", Attempt: 1}, Command: "x"},
		flow.ReplyRejected{AttemptRef: flow.AttemptRef{Step: 1}, Reason: "empty", Exit: "exit status 1", Stderr: "oops", Output: "steps/0001", Received: "?", Millis: 900},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Role: "Implementor", Attempt: 2}, Command: "x"},
		flow.AttemptStopped{AttemptRef: flow.AttemptRef{Step: 1}, Reason: "the run was stopped"},
		flow.RunInterrupted{Outcome: flow.Interrupted},
		flow.RunStarted{Workdir: "/w"},
		flow.CallRestarted{Step: 1, Reason: "the board was edited since the last run"},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Role: "Implementor", Attempt: 3}, Command: "x"},
		flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall}, Status: "blocked", Message: "no key", Millis: 800, Session: "s1", Spent: spent},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ManagerCall, Role: "Manager", Attempt: 1}, Command: "y"},
		flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ManagerCall}, Status: "ok", Message: "b is next", Millis: 700},
		flow.StepFinished{Step: 1, Status: "blocked", Manager: "ok", Message: "b is next", NextTask: &next, Warning: "the file stands"},
		flow.SnapshotTaken{},
		flow.StepStarted{Step: 2, Task: "b.md", Role: "Architect"},
		flow.StepAbandoned{Step: 2, Reason: "the board was edited"},
	)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	want := digest.Digest{Workdir: "/w", Runs: 2, Began: at(0), Ended: at(16), Millis: 15_000, Used: used,
		Counts: digest.Counts{Finished: 1, Attempts: 4, Rejected: 1}, LastRun: digest.Counts{Finished: 1, Attempts: 2}, Steps: []digest.Step{
			{Step: 1, Task: "a.md", Role: "Implementor", Began: at(1), Ended: at(13), Millis: 11_000, State: digest.Done, Status: "blocked", Manager: "ok", Message: "b is next",
				NextTask: &next, Used: used, Notes: []string{"the board was edited since the last run; the call started afresh", "the file stands"},
				Attempts: []digest.Attempt{
					{Call: flow.TaskCall, Role: "Implementor", Attempt: 1, Command: "x", Began: at(2), Millis: 900, Result: digest.Rejected, Reason: "empty",
						Exit: "exit status 1", Received: "?", Stderr: "oops", Output: "steps/0001"},
					{Call: flow.TaskCall, Role: "Implementor", Attempt: 2, Command: "x", Began: at(4), Millis: 1000, Result: digest.Stopped, Reason: "the run was stopped"},
					{Call: flow.TaskCall, Role: "Implementor", Attempt: 3, Command: "x", Began: at(9), Millis: 800, Result: digest.Accepted, Status: "blocked", Message: "no key",
						Session: "s1", Spent: spent},
					{Call: flow.ManagerCall, Role: "Manager", Attempt: 1, Command: "y", Began: at(11), Millis: 700, Result: digest.Accepted, Status: "ok", Message: "b is next"},
				}},
			{Step: 2, Task: "b.md", Role: "Architect", Began: at(15), Ended: at(16), Millis: 1000, State: digest.Abandoned, Notes: []string{"given up: the board was edited"}, Attempts: []digest.Attempt{}},
		}}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreUnexported(digest.Digest{}, digest.Step{})); diff != "" {
		t.Errorf("the digest differs (-want +got):\n%s", diff)
	}
}

// TestReviewCalls: a review is an attempt of its own, and its verdict does not end the step: seed
// 003, "Supervisor Feedback".
func TestReviewCalls(t *testing.T) {
	var d digest.Digest
	review := func(n int) flow.AttemptRef {
		return flow.AttemptRef{Step: 1, Call: flow.ReviewCall, Attempt: 1, Round: n}
	}
	fold(&d,
		flow.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		flow.AttemptStarted{AttemptRef: review(1)},
		flow.ReviewHeld{AttemptRef: review(1), Feedback: "more", Session: "f1", Millis: 5, Spent: &flow.Spending{Input: 3}},
		flow.AttemptStarted{AttemptRef: review(2)},
		flow.ReviewHeld{AttemptRef: review(2), Completed: true, Feedback: "good", Session: "f2", Millis: 6, Spent: &flow.Spending{Input: 4}})
	s := d.Steps[0]
	want := []digest.Attempt{
		{Call: flow.ReviewCall, Attempt: 1, Round: 1, Began: start.Add(time.Second), Millis: 5, Result: digest.Accepted, Message: "more", SentBack: true,
			Session: "f1", Spent: &flow.Spending{Input: 3}},
		{Call: flow.ReviewCall, Attempt: 1, Round: 2, Began: start.Add(3 * time.Second), Millis: 6, Result: digest.Accepted, Message: "good",
			Session: "f2", Spent: &flow.Spending{Input: 4}},
	}
	if diff := cmp.Diff(want, s.Attempts); diff != "" {
		t.Errorf("the attempts differ (-want +got):\n%s", diff)
	}
	if s.SentBack() != 1 || s.Used.Attempts != 2 || s.Used.Input != 7 || s.State != digest.Open || s.Millis != 4000 {
		t.Errorf("step %+v was sent back %d times in %d ms, want once in 4000 ms, and two attempts of 7 tokens", s, s.SentBack(), s.Millis)
	}
}

// TestRestarts: a call that starts afresh says why. An entry that is of no step
// does not move the step's end.
func TestRestarts(t *testing.T) {
	var d digest.Digest
	fold(&d,
		flow.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		flow.CallRestarted{Reason: "the session is gone"},
		flow.StateDiverged{Text: "the board differs"},
		flow.RunInterrupted{})
	want := []string{"the session is gone; the call started afresh", "the board differs"}
	if s := d.Steps[0]; !slices.Equal(s.Notes, want) || s.Ended != start.Add(2*time.Second) {
		t.Errorf("notes %q, ended %v, want %q and two seconds after the start", s.Notes, s.Ended, want)
	}
}

// TestStatuses: a step that is not finished has the status of each agent that has replied.
func TestStatuses(t *testing.T) {
	var d digest.Digest
	accept := func(call flow.Call, status string) {
		ref := flow.AttemptRef{Step: 1, Call: call}
		fold(&d, flow.AttemptStarted{AttemptRef: ref}, flow.ReplyAccepted{AttemptRef: ref, Status: status, Message: status})
	}
	fold(&d, flow.StepStarted{Step: 1})
	accept(flow.TaskCall, "blocked")
	if s := d.Steps[0]; s.Status != "blocked" || s.Manager != "" || s.Message != "blocked" {
		t.Errorf("step %+v, want the status of the task agent only", s)
	}
	accept(flow.ManagerCall, "ok")
	if s := d.Steps[0]; s.Status != "blocked" || s.Manager != "ok" || s.Message != "ok" {
		t.Errorf("step %+v, want both statuses", s)
	}
}

// TestClockGoesBack: an open step ends with its last entry, and the end of one that
// is done is not moved back.
func TestClockGoesBack(t *testing.T) {
	var d digest.Digest
	add := func(second int, e flow.Event) {
		d.Add(flow.Entry{Time: start.Add(time.Duration(second) * time.Second), Event: e})
	}
	add(9, flow.StepStarted{Step: 1})
	add(5, flow.StateDiverged{Text: "the board differs"})
	if got := d.Steps[0].Ended; got != start.Add(5*time.Second) {
		t.Errorf("the open step ended at %v, want second 5", got)
	}
	add(7, flow.StepFinished{Step: 1})
	add(6, flow.BoardWritten{})
	if got := d.Steps[0].Ended; got != start.Add(7*time.Second) {
		t.Errorf("the step that is done ended at %v, want second 7", got)
	}
}

// TestCountOpen: an attempt counts before its end is known.
func TestCountOpen(t *testing.T) {
	var d digest.Digest
	d.CountOpen()
	fold(&d,
		flow.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}})
	d.CountOpen()
	want := flow.Used{Attempts: 1}
	if d.Used.Used != want || d.Steps[0].Used.Used != want {
		t.Errorf("used %+v, step 1 %+v, want %+v", d.Used.Used, d.Steps[0].Used.Used, want)
	}
	fold(&d, flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall}, Status: "ok"})
	was := d.Used
	if d.CountOpen(); d.Used != was {
		t.Errorf("used %+v with an attempt that has ended, want %+v", d.Used, was)
	}
}

func TestCulprit(t *testing.T) {
	open := []flow.Event{flow.StepStarted{Step: 1}, flow.StepFinished{Step: 1}, flow.StepStarted{Step: 2}}
	for _, tt := range []struct {
		outcome flow.Outcome
		events  []flow.Event
		want    int
	}{
		{flow.Complete, open, 0},
		{flow.Exhausted, open, 2},
		{flow.Interrupted, open, 2},
		{flow.NeedsPerson, open[:2], 1},
		{flow.LimitReached, open[:2], 0},
		{flow.Frozen, nil, 0},
	} {
		d := digest.Digest{Outcome: tt.outcome}
		fold(&d, tt.events...)
		got := 0
		if s := d.Culprit(); s != nil {
			got = s.Step
		}
		if got != tt.want {
			t.Errorf("Culprit(%s after %d events) = step %d, want %d", tt.outcome, len(tt.events), got, tt.want)
		}
	}
}

func TestKeepForgetsTheOldest(t *testing.T) {
	d := digest.Digest{Keep: 3}
	for i := range 10 {
		fold(&d, flow.StepStarted{Step: i + 1}, flow.ReplyAccepted{Spent: &flow.Spending{Input: 7}}, flow.StepFinished{Step: i + 1})
	}
	if d.Used.Input != 70 || d.Steps[0].Used.Input != 7 {
		t.Errorf("used %+v, of a step %+v, want all ten steps and one", d.Used, d.Steps[0].Used)
	}
	var kept []int
	for _, s := range d.Steps {
		kept = append(kept, s.Step)
	}
	if fmt.Sprint(kept) != "[8 9 10]" || d.Earlier != 7 {
		t.Errorf("kept %v and %d before them, want [8 9 10] and 7", kept, d.Earlier)
	}
}

// A journal of a board that was never run through, or an entry that is about no step, changes
// nothing else.
func TestEntriesWithoutAStep(t *testing.T) {
	var d digest.Digest
	fold(&d, flow.ReplyAccepted{}, flow.AttemptStopped{}, flow.HandoffOffered{})
	if len(d.Steps) != 0 || d.Began != start {
		t.Errorf("the digest is %+v", d)
	}
}
