package flow_test

import (
	"slices"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestWaitsCountForLimits: the time in which a run waits for its provider counts for its limit of time, and a limit
// is near from 80 % on.
func TestWaitsCountForLimits(t *testing.T) {
	s := flow.State{Limits: event.Limits{MaxMillis: 1000, MaxCost: 10}, Used: event.Used{Millis: 300}, Waited: 499, Step: &flow.Step{Task: "t1"}}
	s.Used.Cost = 7
	if near := s.NearLimits(); near != nil {
		t.Errorf("below 80 %% of each limit %q is near", near)
	}
	s.Waited, s.Used.Cost = 500, 8
	if near := s.NearLimits(); len(near) != 2 {
		t.Errorf("at 80 %% of two limits %q is near", near)
	}
	s.Limits.MaxTaskMillis = 300
	if left, ofTask := s.TimeLeft(); left != 200*time.Millisecond || ofTask != 300*time.Millisecond {
		t.Errorf("%s and %s are left, want 200ms and 300ms", left, ofTask)
	}
}

// TestLeavesOpen: what a Manager's null would leave undone counts with what the step itself has done and changed.
func TestLeavesOpen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		step   flow.Step
		done   []flow.TaskStatus
		list   flow.List
		change flow.Change
		open   bool
	}{
		{"the last one is done", flow.Step{Task: "b", TaskStatus: "ok"}, []flow.TaskStatus{{Task: "a", Status: "ok"}}, listOf("a", "b"), flow.Change{}, false},
		{"by another spelling", flow.Step{Task: "./b", Path: "b", TaskStatus: "ok"}, []flow.TaskStatus{{Task: "a", Status: "ok"}}, listOf("a", "b"), flow.Change{}, false},
		{"it is blocked", flow.Step{Task: "b", TaskStatus: "blocked"}, []flow.TaskStatus{{Task: "a", Status: "ok"}}, listOf("a", "b"), flow.Change{}, true},
		{"another is open", flow.Step{Task: "b", TaskStatus: "ok"}, nil, listOf("a", "b"), flow.Change{}, true},
		{"another was dropped", flow.Step{Task: "b", TaskStatus: "ok"}, nil, listOf("b"), flow.Change{Dropped: []string{"a"}}, true},
		{"another was renamed", flow.Step{Task: "b", TaskStatus: "ok"}, []flow.TaskStatus{{Task: "a", Status: "ok"}}, listOf("c", "b"), flow.Change{Renamed: []event.Rename{{From: "a", To: "c"}}}, false},
		{"behind a checkpoint", flow.Step{Task: "b", TaskStatus: "ok", Checkpoint: &event.Checkpoint{}}, nil, listOf("b"), flow.Change{}, true},
	} {
		s := flow.State{Step: &tt.step, Statuses: tt.done}
		if open := s.LeavesOpen(tt.list, tt.change); open != tt.open {
			t.Errorf("%s: open is %t", tt.name, open)
		}
		if !slices.Equal(s.Statuses, tt.done) {
			t.Errorf("%s: the state has changed to %+v", tt.name, s.Statuses)
		}
	}
}

// TestReleaseOfOne: of several tasks in quarantine the Lead may release one.
func TestReleaseOfOne(t *testing.T) {
	s := flow.State{Quarantine: []flow.Quarantine{{Task: "a"}, {Task: "b"}, {Task: "c"}}}
	apply(t, &s, event.QuarantineEnded{Task: "a", Reason: "you decided"})
	if len(s.Quarantine) != 2 || s.Quarantine[0].Task != "b" {
		t.Errorf("in quarantine: %+v, want b and c", s.Quarantine)
	}
	apply(t, &s, event.Acknowledged{About: event.AboutQuarantine, Choice: event.ReleaseTasks, Task: "c"})
	if len(s.Quarantine) != 1 || s.Quarantine[0].Task != "b" {
		t.Errorf("in quarantine: %+v, want b", s.Quarantine)
	}
	apply(t, &s, event.Acknowledged{About: event.AboutQuarantine, Choice: event.ReleaseTasks})
	if len(s.Quarantine) != 0 {
		t.Errorf("in quarantine: %+v, want none", s.Quarantine)
	}
}

// TestAcceptedTaskOfAnEndedBoard: a task that a person accepts counts as done; the board is complete once no other
// is left, and also without a task, as it stands.
func TestAcceptedTaskOfAnEndedBoard(t *testing.T) {
	ended := func() flow.State {
		return flow.State{Outcome: event.Incomplete, Spent: true, Workdir: "/w", Quarantine: []flow.Quarantine{{Task: "q"}}, Last: flow.ManagerReply{Status: "ok", BoardSHA: "x"}}
	}
	s := ended()
	apply(t, &s, event.Acknowledged{About: event.AboutEnd, Choice: event.Accept, Task: "a", Left: "b is open", BoardSHA: "y"})
	if s.Outcome != event.Incomplete || s.Text != "b is open" || len(s.Quarantine) != 1 || s.Last.BoardSHA != "y" || !s.Last.Acknowledged {
		t.Errorf("with another task open the state is %+v", s)
	}
	s = ended()
	apply(t, &s, event.Acknowledged{About: event.AboutEnd, Choice: event.Accept, Task: "a", Text: "by me"})
	if s.Outcome != event.Complete || s.Last.Accepted != "" || len(s.Quarantine) != 0 {
		t.Errorf("with no other task open the state is %+v", s)
	}
	s = ended()
	apply(t, &s, event.Acknowledged{About: event.AboutEnd, Choice: event.Accept, Text: "by me"})
	if s.Outcome != event.Complete || s.Last.Accepted != "by me" || s.Text != "by me" {
		t.Errorf("after the board is accepted the state is %+v", s)
	}
}

// TestConsentNeedsAnAttempt: nothing is asked about an agent that does not run.
func TestConsentNeedsAnAttempt(t *testing.T) {
	s := after(t, start, one)
	ref := attempt(1, event.TaskCall, 1).AttemptRef
	for _, e := range []event.Event{event.ConsentAsked{AttemptRef: ref}, event.ConsentGiven{AttemptRef: ref}} {
		if err := s.Apply(e); err == nil {
			t.Errorf("%s was applied without an attempt", e.Kind())
		}
	}
	apply(t, &s, attempt(1, event.TaskCall, 1), event.ConsentAsked{AttemptRef: ref, Text: "silent"})
	if s.Step.Consent == nil || s.Step.Consent.Text != "silent" {
		t.Errorf("the consent is %+v", s.Step.Consent)
	}
	if apply(t, &s, event.ConsentGiven{AttemptRef: ref}); s.Step.Consent != nil {
		t.Errorf("after the answer the consent is %+v", s.Step.Consent)
	}
}

// TestNeverRan: a run has started once it has a work directory; a decision of a person is none.
func TestNeverRan(t *testing.T) {
	var s flow.State
	if !s.NeverRan() {
		t.Error("a board without a journal was run")
	}
	if s.Workdir = "/w"; s.NeverRan() {
		t.Error("a board with a work directory was never run")
	}
}
