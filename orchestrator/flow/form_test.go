package flow

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/eventtest"
)

// TestRules holds the fields of a State to testdata/state.txt, which begins with the number of the rules. With
// KANBAN_TEST_UPDATE=1 and a greater number it is made anew.
func TestRules(t *testing.T) {
	const path = "testdata/state.txt"
	now := fmt.Sprintf("rules %d\n%s\n", rules, strings.Join(eventtest.Fields(reflect.TypeFor[State]()), "\n"))
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	if _, err := fmt.Sscanf(string(was), "rules %d", &number); err != nil {
		t.Fatal(err)
	}
	if number < rules && os.Getenv("KANBAN_TEST_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(was) != now {
		t.Errorf("the fields of a State are others than those of rules %d: raise the number, then KANBAN_TEST_UPDATE=1 notes them", number)
	}
}

// TestSnapshotOfOtherRules: "what the fold of an older journal lacks has a stated default": a snapshot of other rules
// contradicts nothing, and the state to roll back to is the one of these rules. One of the same rules is still
// compared.
func TestSnapshotOfOtherRules(t *testing.T) {
	for number, breaks := range map[int]bool{0: false, rules - 1: false, rules: true, rules + 1: false} {
		var h History
		add := func(e event.Event) {
			h.Add(event.Entry{Seq: h.Seq + 1, Epoch: 1, Rev: h.Rev + 1, Actor: event.Actor(e), Event: e})
		}
		add(event.HandoffOffered{Epoch: 1, Owner: "r1"})
		add(event.HandoffAcked{Epoch: 1, Owner: "r1"})
		add(event.RunStarted{Workdir: "/w", Version: "v1"})
		state := []byte(`{"steps":7,"coffee":1}`)
		add(event.SnapshotTaken{Epoch: 1, ReplayIndex: 3, Hash: hashOf(state), State: state, Rules: number})
		if (h.Breach != nil) != breaks || !breaks && (len(h.Points) != 1 || h.Points[0].State.Workdir != "/w") {
			t.Errorf("rules %d: breach %v, points %+v", number, h.Breach, h.Points)
		}
	}
}

// TestNewer: of a record that needs a later form, the record that needs the latest and the program of its run are
// told; what follows breaks no rule, and is shown as far as it can be.
func TestNewer(t *testing.T) {
	var h History
	needs := map[uint64]int{4: event.Form, 5: event.Form + 1, 6: event.Form + 2, 7: event.Form + 2}
	for _, e := range []event.Event{event.HandoffOffered{Epoch: 1, Owner: "r1"}, event.HandoffAcked{Epoch: 1, Owner: "r1"},
		event.RunStarted{Version: "v9"}, event.StepStarted{Step: 1, Task: "a.md", Role: "r"}, event.StepFinished{Step: 7},
		event.Unknown{Type: "TASK_SPLIT", About: "a.md", Writer: "someone"}, event.RunFinished{Outcome: event.Complete}} {
		seq := h.Seq + 1
		h.Add(event.Entry{Seq: seq, Epoch: 1, Rev: h.Rev + 1, Actor: event.Actor(e), Needs: needs[seq], Event: e})
		if (h.Newer != nil) != (seq > 4) {
			t.Errorf("after record %d: %v", seq, h.Newer)
		}
	}
	want := Newer{Seq: 6, Kind: "TASK_SPLIT", Needs: event.Form + 2, Version: "v9"}
	if *h.Newer != want || h.Standstill() != "" || h.State.Outcome != event.Complete || h.State.LastStep != 1 {
		t.Errorf("newer %+v, standstill %q, outcome %s, want %+v", h.Newer, h.Standstill(), h.State.Outcome, want)
	}
}

// TestUnknownIsIgnored: a run goes on over an event that a later version noted and this one can do without.
func TestUnknownIsIgnored(t *testing.T) {
	var s State
	if err := s.Apply(event.Unknown{Type: "WEATHER_NOTED"}); err != nil || !reflect.DeepEqual(s, State{}) {
		t.Errorf("%v, %+v", err, s)
	}
}
