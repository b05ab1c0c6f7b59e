package flow_test

import (
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/flow"
)

func move(to flow.TeardownState, round int) flow.TeardownMoved {
	return flow.TeardownMoved{Board: "b", To: to, Round: round}
}

// teardowns leads to each state.
var teardowns = map[flow.TeardownState][]flow.Event{
	"":                     {},
	flow.TeardownInit:      {move(flow.TeardownInit, 0)},
	flow.ShutdownRequested: {move(flow.TeardownInit, 0), move(flow.ShutdownRequested, 0)},
	flow.WaitingAcks:       {move(flow.TeardownInit, 0), move(flow.ShutdownRequested, 0), move(flow.WaitingAcks, 0)},
	flow.Retrying:          {move(flow.TeardownInit, 0), move(flow.ShutdownRequested, 0), move(flow.WaitingAcks, 0), move(flow.Retrying, 1), move(flow.Retrying, 2), move(flow.Retrying, 3)},
	flow.FailedSafe: {move(flow.TeardownInit, 0), move(flow.ShutdownRequested, 0), move(flow.WaitingAcks, 0), move(flow.Retrying, 1), move(flow.Retrying, 2), move(flow.Retrying, 3),
		flow.ForcedFinalizeCandidate{Board: "b", Missing: []string{"S"}}, flow.TeardownBlocked{Board: "b"}, move(flow.FailedSafe, 0)},
	flow.ReadyToDelete: {move(flow.TeardownInit, 0), move(flow.ReadyToDelete, 0)},
	flow.TeamDeleted:   {move(flow.TeardownInit, 0), move(flow.ReadyToDelete, 0), move(flow.TeamDeleted, 0)},
}

// TestTeardown: seed 002, "Teardown FSM": every transition that there is, and no other.
func TestTeardown(t *testing.T) {
	allowed := map[flow.TeardownState][]flow.TeardownState{
		"":                     {flow.TeardownInit},
		flow.TeardownInit:      {flow.TeardownInit, flow.ShutdownRequested, flow.ReadyToDelete, flow.FailedSafe},
		flow.ShutdownRequested: {flow.TeardownInit, flow.WaitingAcks},
		flow.WaitingAcks:       {flow.TeardownInit, flow.Retrying, flow.ReadyToDelete},
		flow.Retrying:          {flow.TeardownInit, flow.ReadyToDelete, flow.FailedSafe},
		flow.FailedSafe:        {flow.TeardownInit},
		flow.ReadyToDelete:     {flow.TeardownInit, flow.TeamDeleted},
	}
	for from, events := range teardowns {
		for to := range teardowns {
			if to == "" {
				continue
			}
			s := after(t, append([]flow.Event{start}, events...)...)
			round := 0
			if to == flow.Retrying {
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
	s := after(t, append([]flow.Event{start}, teardowns[flow.WaitingAcks]...)...)
	for _, e := range []flow.Event{move(flow.Retrying, 2), flow.ForcedFinalizeCandidate{Board: "b"}, flow.ForcedFinalizeAcked{Board: "b"}} {
		if s.Apply(e) == nil {
			t.Errorf("%+v was applied", e)
		}
	}
	apply(t, &s, move(flow.Retrying, 1), move(flow.Retrying, 2))
	for _, e := range []flow.Event{move(flow.FailedSafe, 0), flow.ForcedFinalizeCandidate{Board: "b"}, move(flow.Retrying, 2)} {
		if s.Apply(e) == nil {
			t.Errorf("after two rounds: %+v was applied", e)
		}
	}
	apply(t, &s, move(flow.Retrying, 3))
	if s.Apply(move(flow.Retrying, 4)) == nil {
		t.Error("there was a fourth round")
	}
	apply(t, &s, flow.ForcedFinalizeCandidate{Board: "b", Missing: []string{"S"}}, move(flow.FailedSafe, 0))
	if s.Apply(move(flow.ReadyToDelete, 0)) == nil {
		t.Error("it went on without the Lead")
	}
	apply(t, &s, flow.ForcedFinalizeAcked{Board: "b"}, move(flow.ReadyToDelete, 0))
	if !s.Teardown.Forced || len(s.Teardown.Missing) != 1 {
		t.Errorf("%+v: the members that never answered are to be known", s.Teardown)
	}
	apply(t, &s, start)
	if s.Teardown != nil {
		t.Error("a new run begins at a gate")
	}
	open := after(t, start, one)
	if open.Apply(move(flow.TeardownInit, 0)) == nil {
		t.Error("the team ends in an open step")
	}
}

// TestNotReady: seed 002, "Forced-finalize preconditions": a team is not deleted over open work,
// or over a decision that a person owes.
func TestNotReady(t *testing.T) {
	waits := flow.State{Outcome: flow.NeedsPerson, Text: "the Manager ended the board with status blocked"}
	decided := waits
	decided.Last.Acknowledged = true
	for name, tt := range map[string]struct {
		state    flow.State
		terminal bool
		want     string
	}{
		"a board that is over":         {flow.State{Outcome: flow.Complete}, true, ""},
		"an open step":                 {flow.State{Step: &flow.Step{Number: 7}}, true, "step 7 is open"},
		"tasks are left":               {flow.State{}, false, "the board has tasks to do"},
		"a decision is owed":           {waits, true, "the board waits for a decision: " + waits.Text},
		"the decision was made":        {decided, true, ""},
		"a frozen board, in its words": {flow.State{Frozen: &flow.Freeze{Text: "SPLIT_BRAIN"}}, true, "SPLIT_BRAIN"},
	} {
		h := flow.History{State: tt.state}
		if got := h.NotReady(tt.terminal); got != tt.want && !(tt.want == "SPLIT_BRAIN" && strings.Contains(got, tt.want)) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
