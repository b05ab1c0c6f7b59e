package digest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fold adds events that happened a second apart.
func fold(d *digest.Digest, events ...event.Event) {
	at := start
	if !d.Ended.IsZero() {
		at = d.Ended.Add(time.Second)
	}
	for i, e := range events {
		d.Add(event.Entry{Time: at.Add(time.Duration(i) * time.Second), Event: e})
	}
}

func TestStepsOfAnInterruptedRun(t *testing.T) {
	var d digest.Digest
	next, cost := "b.md", int64(5)
	spent := &event.Spending{Input: 30, Cached: 20, Output: 10, Cost: &cost}
	used := flow.Tally{Used: event.Used{Attempts: 4, Told: 1, Priced: 1, Input: 30, Cached: 20, Output: 10, Cost: 5, Millis: 2400}}
	fold(&d,
		event.RunStarted{Workdir: "/w"},
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Role: "Implementor", Attempt: 1}, Command: "x"},
		event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 1}, Reason: "empty", Exit: "exit status 1", Stderr: "oops", Output: "steps/0001", Received: "?", End: event.End{Millis: 900}},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Role: "Implementor", Attempt: 2}, Command: "x"},
		event.AttemptStopped{AttemptRef: event.AttemptRef{Step: 1}, Reason: "the run was stopped"},
		event.RunInterrupted{Outcome: event.Interrupted},
		event.RunStarted{Workdir: "/w"},
		event.CallRestarted{Step: 1, Reason: "the board was edited since the last run"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Role: "Implementor", Attempt: 3}, Command: "x"},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall}, Status: "blocked", Message: "no key", End: event.End{Millis: 800, Session: "s1", Spent: spent}},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Role: "Manager", Attempt: 1}, Command: "y"},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall}, Status: "ok", Message: "b is next", End: event.End{Millis: 700, Warning: "half a character"}},
		event.StepFinished{Step: 1, Status: "blocked", Manager: "ok", Message: "b is next", NextTask: &next, Warning: "the file stands"},
		event.SnapshotTaken{},
		event.StepStarted{Step: 2, Task: "b.md", Role: "Architect"},
		event.StepAbandoned{Step: 2, Reason: "the board was edited"},
	)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	want := digest.Digest{Workdir: "/w", Runs: 2, Began: at(0), Ended: at(16), Millis: 15_000, Used: used,
		Counts: digest.Counts{Finished: 1, Attempts: 4, Rejected: 1}, LastRun: digest.Counts{Finished: 1, Attempts: 2}, Steps: []digest.Step{
			{Step: 1, Task: "a.md", Role: "Implementor", Began: at(1), Ended: at(13), Millis: 11_000, State: digest.Done, Status: "blocked", Manager: "ok", Message: "b is next",
				NextTask: &next, Used: used, Notes: []string{"the board was edited since the last run; the call starts afresh", "half a character", "the file stands"},
				Attempts: []digest.Attempt{
					{Call: event.TaskCall, Role: "Implementor", Attempt: 1, Command: "x", Began: at(2), Millis: 900, Result: digest.Rejected, Reason: "empty",
						Exit: "exit status 1", Received: "?", Stderr: "oops", Output: "steps/0001"},
					{Call: event.TaskCall, Role: "Implementor", Attempt: 2, Command: "x", Began: at(4), Millis: 1000, Result: digest.Stopped, Reason: "the run was stopped"},
					{Call: event.TaskCall, Role: "Implementor", Attempt: 3, Command: "x", Began: at(9), Millis: 800, Result: digest.Accepted, Status: "blocked", Message: "no key",
						Session: "s1", Spent: spent},
					{Call: event.ManagerCall, Role: "Manager", Attempt: 1, Command: "y", Began: at(11), Millis: 700, Result: digest.Accepted, Status: "ok", Message: "b is next"},
				}},
			{Step: 2, Task: "b.md", Role: "Architect", Began: at(15), Ended: at(16), Millis: 1000, State: digest.Abandoned, Notes: []string{"given up, the board was edited"}, Attempts: []digest.Attempt{}},
		}}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreUnexported(digest.Digest{}, digest.Step{}), cmpopts.IgnoreFields(digest.Attempt{}, "Said")); diff != "" {
		t.Errorf("the digest differs (-want +got):\n%s", diff)
	}
}

// TestReviewCalls: a review is an attempt of its own, and its verdict does not end the step: seed
// 003, "Supervisor Feedback".
func TestReviewCalls(t *testing.T) {
	var d digest.Digest
	review := func(n int) event.AttemptRef {
		return event.AttemptRef{Step: 1, Call: event.ReviewCall, Attempt: 1, Round: n}
	}
	fold(&d,
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: review(1)},
		event.ReviewHeld{AttemptRef: review(1), Feedback: "more", End: event.End{Session: "f1", Millis: 5, Spent: &event.Spending{Input: 3}}},
		event.AttemptStarted{AttemptRef: review(2)},
		event.ReviewHeld{AttemptRef: review(2), Completed: true, Feedback: "good", End: event.End{Session: "f2", Millis: 6, Spent: &event.Spending{Input: 4}}})
	s := d.Steps[0]
	want := []digest.Attempt{
		{Call: event.ReviewCall, Attempt: 1, Round: 1, Began: start.Add(time.Second), Millis: 5, Result: digest.Accepted, Message: "more", SentBack: true,
			Said:    "the reviewer of  is not content (round 1, 5ms) (3 in/0 out): more",
			Session: "f1", Spent: &event.Spending{Input: 3}},
		{Call: event.ReviewCall, Attempt: 1, Round: 2, Began: start.Add(3 * time.Second), Millis: 6, Result: digest.Accepted, Message: "good",
			Said:    "the reviewer of  accepts the work (round 2, 6ms) (4 in/0 out)",
			Session: "f2", Spent: &event.Spending{Input: 4}},
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
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.CallRestarted{Step: 1, Reason: "the session is gone"},
		event.StateDiverged{Task: "a.md", Source: event.SourceState, Text: "the board differs"},
		event.StateDiverged{Task: "b.md", Source: event.SourceState, Text: "of another step"},
		event.RunInterrupted{})
	want := []string{"the session is gone; the call starts afresh", "the board differs"}
	if s := d.Steps[0]; !slices.Equal(s.Notes, want) || s.Ended != start.Add(2*time.Second) {
		t.Errorf("notes %q, ended %v, want %q and two seconds after the start", s.Notes, s.Ended, want)
	}
}

// TestStatuses: a step that is not finished has the status of each agent that has replied.
func TestStatuses(t *testing.T) {
	var d digest.Digest
	accept := func(call event.Call, status string) {
		ref := event.AttemptRef{Step: 1, Call: call}
		fold(&d, event.AttemptStarted{AttemptRef: ref}, event.ReplyAccepted{AttemptRef: ref, Status: status, Message: status})
	}
	fold(&d, event.StepStarted{Step: 1})
	accept(event.TaskCall, "blocked")
	if s := d.Steps[0]; s.Status != "blocked" || s.Manager != "" || s.Message != "blocked" {
		t.Errorf("step %+v, want the status of the task agent only", s)
	}
	accept(event.ManagerCall, "ok")
	if s := d.Steps[0]; s.Status != "blocked" || s.Manager != "ok" || s.Message != "ok" {
		t.Errorf("step %+v, want both statuses", s)
	}
}

// TestClockGoesBack: an open step ends with its last entry, and the end of one that
// is done is not moved back.
func TestClockGoesBack(t *testing.T) {
	var d digest.Digest
	add := func(second int, e event.Event) {
		d.Add(event.Entry{Time: start.Add(time.Duration(second) * time.Second), Event: e})
	}
	add(9, event.StepStarted{Step: 1})
	add(5, event.StateDiverged{Text: "the board differs"})
	if got := d.Steps[0].Ended; got != start.Add(5*time.Second) {
		t.Errorf("the open step ended at %v, want second 5", got)
	}
	add(7, event.StepFinished{Step: 1})
	add(6, event.BoardWritten{})
	if got := d.Steps[0].Ended; got != start.Add(7*time.Second) {
		t.Errorf("the step that is done ended at %v, want second 7", got)
	}
}

// TestCountOpen: an attempt counts before its end is known.
func TestCountOpen(t *testing.T) {
	var d digest.Digest
	d.CountOpen()
	fold(&d,
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1}})
	d.CountOpen()
	want := event.Used{Attempts: 1}
	if d.Used.Used != want || d.Steps[0].Used.Used != want {
		t.Errorf("used %+v, step 1 %+v, want %+v", d.Used.Used, d.Steps[0].Used.Used, want)
	}
	fold(&d, event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall}, Status: "ok"})
	was := d.Used
	if d.CountOpen(); d.Used != was {
		t.Errorf("used %+v with an attempt that has ended, want %+v", d.Used, was)
	}
}

func TestCulprit(t *testing.T) {
	open := []event.Event{event.StepStarted{Step: 1}, event.StepFinished{Step: 1}, event.StepStarted{Step: 2}}
	for _, tt := range []struct {
		outcome event.Outcome
		events  []event.Event
		want    int
	}{
		{event.Complete, open, 0},
		{event.Exhausted, open, 2},
		{event.Interrupted, open, 2},
		{event.NeedsPerson, open[:2], 1},
		{event.LimitReached, open[:2], 0},
		{event.Frozen, nil, 0},
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
		fold(&d, event.StepStarted{Step: i + 1}, event.ReplyAccepted{End: event.End{Spent: &event.Spending{Input: 7}}}, event.StepFinished{Step: i + 1})
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
	fold(&d, event.ReplyAccepted{}, event.AttemptStopped{}, event.HandoffOffered{})
	if len(d.Steps) != 0 || d.Began != start {
		t.Errorf("the digest is %+v", d)
	}
}
