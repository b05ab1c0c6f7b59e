package flow_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestStillDropped: what the Manager took off the list undone is left out once it is listed again, or done.
func TestStillDropped(t *testing.T) {
	list := flow.List{Paths: []string{"a.md"}, Find: func(task string) int {
		if task == "a.md" {
			return 0
		}
		return -1
	}}
	s := flow.State{Dropped: []string{"a.md", "./b.md", "c.md", "d.md"}, Statuses: []flow.TaskStatus{{Task: "b.md", Status: "ok"}, {Task: "d.md", Status: "blocked"}}}
	if diff := cmp.Diff([]string{"c.md", "d.md"}, s.StillDropped(list)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWasWorkedOn: a task counts once this run has finished a step of it, in any spelling of its path.
func TestWasWorkedOn(t *testing.T) {
	s := flow.State{Tasks: []flow.TaskUse{{Task: "./a.md", Steps: 1}, {Task: "b.md"}}}
	for task, want := range map[string]bool{"a.md": true, "./a.md": true, "b.md": false, "c.md": false} {
		if got := s.WasWorkedOn(task); got != want {
			t.Errorf("%s: %t, want %t", task, got, want)
		}
	}
}

// TestManagerHearsOfTheDecision: a person's decision about a task that was set aside is told as an anomaly; of a
// task about which no person has decided, nothing is told.
func TestManagerHearsOfTheDecision(t *testing.T) {
	for choice, want := range map[event.Choice]string{event.Skip: "t1 was set aside, and a person has decided about it: skip", event.Accept: "t1 was set aside, and a person has decided about it: accept", "": ""} {
		s := flow.State{Running: true, KeepGoing: true, Aside: []flow.Aside{{Task: "t1", Decided: choice}}}
		apply(t, &s, event.StepStarted{Step: 1, Task: "t1", Role: "Manager"})
		got := ""
		if a := s.Step.Anomaly; a != nil {
			got = a.Details
		}
		if got != want {
			t.Errorf("decided %q: told %q, want %q", choice, got, want)
		}
	}
}

// TestOnlyQuarantineIsLeft: where walk leaves only tasks in quarantine, the end of the run names them, what a
// person skipped, and what could not be named.
func TestOnlyQuarantineIsLeft(t *testing.T) {
	s := flow.State{Running: true, KeepGoing: true, Manager: event.Walker,
		Quarantine: []flow.Quarantine{{Task: "a.md", Text: "LOOP_SUSPECTED: round and round"}, {Task: "b.md"}},
		Statuses:   []flow.TaskStatus{{Task: "c.md", Status: flow.StatusSkipped}, {Task: "d.md", Status: "ok"}},
		Last:       flow.ManagerReply{Walked: true, Left: []string{"e.md needs a.md"}}}
	end, ok := flow.Next(&s, flow.Board{Task: "a.md", Role: "Implementor"}).(flow.Finish)
	want := "the board is incomplete: a.md and 1 more task are in quarantine: LOOP_SUSPECTED: round and round; c.md is skipped; e.md needs a.md"
	if !ok || end.Text != want {
		t.Errorf("ended %+v, want %q", end, want)
	}
}

// TestReconcileAfterACheckpoint: a Manager that was called after the last task, because a checkpoint asked for a
// revision, may name a next task on a board that is over; only a board that says phase: complete contradicts it.
func TestReconcileAfterACheckpoint(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after flow.Fields
		next          string
		writes        bool
		disagrees     string
	}{
		"it names a task":                  {flow.Fields{}, flow.Fields{Terminal: true}, "t9", true, ""},
		"it names none":                    {flow.Fields{}, flow.Fields{Terminal: true}, "", false, ""},
		"it names none on an open board":   {flow.Fields{}, flow.Fields{}, "", true, ""},
		"the phase says complete":          {flow.Fields{}, flow.Fields{Terminal: true, Over: true}, "t9", false, "the board is complete"},
		"an end by the Manager of a task":  {flow.Fields{Current: "t1"}, flow.Fields{Terminal: true}, "t9", false, "the board is complete"},
		"no current task on an open board": {flow.Fields{Current: "t1"}, flow.Fields{}, "t9", false, "the board names no current task"},
	} {
		v := flow.Reconcile(tt.before, tt.after, tt.next, nil, "")
		if v.WriteCurrent != tt.writes || (v.Disagreement == "") != (tt.disagrees == "") || !strings.HasPrefix(v.Disagreement, tt.disagrees) {
			t.Errorf("%s: %+v, want a write %t and a disagreement %q", name, v, tt.writes, tt.disagrees)
		}
	}
}
