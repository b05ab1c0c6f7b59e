package flow_test

import (
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

func move(to event.TeardownState, round int) event.TeardownMoved {
	return event.TeardownMoved{Board: "b", To: to, Round: round}
}

// teardowns leads to each state.
var teardowns = map[event.TeardownState][]event.Event{
	"":                      {},
	event.TeardownInit:      {move(event.TeardownInit, 0)},
	event.ShutdownRequested: {move(event.TeardownInit, 0), move(event.ShutdownRequested, 0)},
	event.WaitingAcks:       {move(event.TeardownInit, 0), move(event.ShutdownRequested, 0), move(event.WaitingAcks, 0)},
	event.Retrying:          {move(event.TeardownInit, 0), move(event.ShutdownRequested, 0), move(event.WaitingAcks, 0), move(event.Retrying, 1), move(event.Retrying, 2), move(event.Retrying, 3)},
	event.FailedSafe: {move(event.TeardownInit, 0), move(event.ShutdownRequested, 0), move(event.WaitingAcks, 0), move(event.Retrying, 1), move(event.Retrying, 2), move(event.Retrying, 3),
		event.ForcedFinalizeCandidate{Board: "b", Missing: []string{"S"}}, event.TeardownBlocked{Board: "b"}, move(event.FailedSafe, 0)},
	event.ReadyToDelete: {move(event.TeardownInit, 0), move(event.ReadyToDelete, 0)},
	event.TeamDeleted:   {move(event.TeardownInit, 0), move(event.ReadyToDelete, 0), move(event.TeamDeleted, 0)},
}

// TestTeardown: seed 002, "Teardown FSM": every transition that there is, and no other.
func TestTeardown(t *testing.T) {
	allowed := map[event.TeardownState][]event.TeardownState{
		"":                      {event.TeardownInit},
		event.TeardownInit:      {event.TeardownInit, event.ShutdownRequested, event.ReadyToDelete, event.FailedSafe},
		event.ShutdownRequested: {event.TeardownInit, event.WaitingAcks},
		event.WaitingAcks:       {event.TeardownInit, event.Retrying, event.ReadyToDelete},
		event.Retrying:          {event.TeardownInit, event.ReadyToDelete, event.FailedSafe},
		event.FailedSafe:        {event.TeardownInit},
		event.ReadyToDelete:     {event.TeardownInit, event.TeamDeleted},
	}
	for from, events := range teardowns {
		for to := range teardowns {
			if to == "" {
				continue
			}
			s := after(t, append([]event.Event{start}, events...)...)
			round := 0
			if to == event.Retrying {
				round = 1
			}
			if err := s.Apply(move(to, round)); (err == nil) != slices.Contains(allowed[from], to) {
				t.Errorf("from %q to %s: %v", from, to, err)
			}
		}
	}
}

// TestRetryBudget: "ACK_RETRY_ROUNDS=3": the members are asked again three times, one after the
// other, before the end without them is a candidate; and that needs the word of the Lead.
func TestRetryBudget(t *testing.T) {
	s := after(t, append([]event.Event{start}, teardowns[event.WaitingAcks]...)...)
	for _, e := range []event.Event{move(event.Retrying, 2), event.ForcedFinalizeCandidate{Board: "b"}, event.ForcedFinalizeAcked{Board: "b"}} {
		if s.Apply(e) == nil {
			t.Errorf("%+v was applied", e)
		}
	}
	apply(t, &s, move(event.Retrying, 1), move(event.Retrying, 2))
	for _, e := range []event.Event{move(event.FailedSafe, 0), event.ForcedFinalizeCandidate{Board: "b"}, move(event.Retrying, 2)} {
		if s.Apply(e) == nil {
			t.Errorf("after two rounds: %+v was applied", e)
		}
	}
	apply(t, &s, move(event.Retrying, 3))
	if s.Apply(move(event.Retrying, 4)) == nil {
		t.Error("there was a fourth round")
	}
	apply(t, &s, event.ForcedFinalizeCandidate{Board: "b", Missing: []string{"S"}}, move(event.FailedSafe, 0))
	if s.Apply(move(event.ReadyToDelete, 0)) == nil {
		t.Error("it went on without the Lead")
	}
	apply(t, &s, event.ForcedFinalizeAcked{Board: "b"}, move(event.ReadyToDelete, 0))
	if !s.Teardown.Forced || len(s.Teardown.Missing) != 1 {
		t.Errorf("%+v: the members that never answered are to be known", s.Teardown)
	}
	apply(t, &s, start)
	if s.Teardown != nil {
		t.Error("a new run begins at a gate")
	}
	open := after(t, start, one)
	if open.Apply(move(event.TeardownInit, 0)) == nil {
		t.Error("the team ends in an open step")
	}
}

// TestNotReady: seed 002, "Forced-finalize preconditions": a team is not deleted over open work.
func TestNotReady(t *testing.T) {
	for name, tt := range map[string]struct {
		state    flow.State
		terminal bool
		want     string
	}{
		"a board that is over":         {flow.State{Outcome: event.Complete}, true, ""},
		"an open step":                 {flow.State{Step: &flow.Step{Number: 7}}, true, "step 7 is open"},
		"tasks are left":               {flow.State{}, false, "the board has tasks to do"},
		"a frozen board, in its words": {flow.State{Frozen: &flow.Freeze{Text: "SPLIT_BRAIN"}}, true, "SPLIT_BRAIN"},
	} {
		h := flow.History{State: tt.state}
		if got := h.NotReady(tt.terminal); got != tt.want && !(tt.want == "SPLIT_BRAIN" && strings.Contains(got, tt.want)) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestTeardownAfresh: a teardown that begins anew knows who never answered: it deletes nothing at
// once, and goes its way when they are asked again.
func TestTeardownAfresh(t *testing.T) {
	s := after(t, append([]event.Event{start}, teardowns[event.WaitingAcks]...)...)
	apply(t, &s, move(event.Retrying, 1), move(event.Retrying, 2), move(event.Retrying, 3), event.ForcedFinalizeCandidate{Board: "b", Missing: []string{"Supervisor"}},
		move(event.FailedSafe, 0), move(event.TeardownInit, 0))
	if err := s.Apply(move(event.ReadyToDelete, 0)); err == nil {
		t.Error("a team whose member never answered is deleted at once")
	}
	apply(t, &s, move(event.ShutdownRequested, 0), move(event.WaitingAcks, 0), move(event.ReadyToDelete, 0))
}
