package flow_test

import (
	"testing"

	"kanban-run/orchestrator/flow"
)

// TestReassign: seed 002, "Reassignment Readiness": the next agent of the list, with fresh retries
// and the same input; behind the last one the run ends, and a person gets a proposal.
func TestReassign(t *testing.T) {
	begin := start
	begin.Reassign = []flow.Substitutes{{Role: "implementor", Agents: []string{"codex"}}, {Role: "manager", Agents: []string{"walk"}}}
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	one := one
	one.Role = "Implementor"
	s := after(t, append([]flow.Event{begin, one}, series(flow.TaskCall, 4)...)...)
	e, ok := flow.Next(&s, board).(flow.Reassign)
	if !ok || e.Step != 1 || e.Number != 1 || e.To != "codex" || e.Reason == "" {
		t.Fatalf("Next = %+v, want codex to take over", e)
	}
	taken := flow.Reassigned{Step: 1, Task: "t1", Role: "Implementor", Call: flow.TaskCall, Number: 1, To: "codex"}
	if err := s.Apply(taken); err != nil {
		t.Fatal(err)
	}
	if e, ok := flow.Next(&s, board).(flow.Spawn); !ok || e.Attempt != 5 || s.Substitute() != "codex" || s.Step.Input == nil {
		t.Errorf("Next = %+v for %q, want the fifth attempt with the same input, by codex", e, s.Substitute())
	}
	for n := 5; n <= 8; n++ {
		apply(t, &s, attempt(1, flow.TaskCall, n), rejection(1, flow.TaskCall, n))
	}
	end, ok := flow.Next(&s, board).(flow.Finish)
	if p := s.Proposal(end); !ok || end.Outcome != flow.Exhausted || p == nil || p.Strategy != flow.Replace || p.Role != "Implementor" {
		t.Errorf("Next = %+v, proposal %+v", end, p)
	}
	apply(t, &s, flow.RunFinished{Outcome: flow.Exhausted}, begin)
	if e, ok := flow.Next(&s, board).(flow.Spawn); !ok || s.Substitute() != "" {
		t.Errorf("the next run: Next = %+v by %q, want the role's own agent", e, s.Substitute())
	}

	manager := after(t, append([]flow.Event{begin, one, attempt(1, flow.TaskCall, 1), tasked}, series(flow.ManagerCall, 4)...)...)
	if e, ok := flow.Next(&manager, board).(flow.Reassign); !ok || e.To != "walk" {
		t.Errorf("Next = %+v, want walk to take over", e)
	}
	for name, tt := range map[string]struct {
		state flow.State
		event flow.Reassigned
	}{
		"no step":      {after(t, begin), taken},
		"another call": {manager, taken},
		"at work":      {after(t, begin, one, attempt(1, flow.TaskCall, 1)), taken},
	} {
		if tt.state.Apply(tt.event) == nil {
			t.Errorf("%s: it was handed over", name)
		}
	}
}

// TestStuckIsReassigned: an agent that a restart would not help is replaced as well; work that its
// review never accepts is not, which goes on in the session of its own agent.
func TestStuckIsReassigned(t *testing.T) {
	begin := start
	begin.Reassign = []flow.Substitutes{{Role: "Implementor", Agents: []string{"codex"}}}
	one, work := one, attempt(1, flow.TaskCall, 1)
	one.Role = "Implementor"
	hung := flow.RebootTested{AttemptRef: work.AttemptRef, Anomaly: flow.Anomaly{Check: "idle"}, Decision: flow.Stuck, Text: "silent"}
	s := after(t, begin, one, work, hung, flow.AttemptStopped{AttemptRef: work.AttemptRef})
	if e, ok := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Reassign); !ok || e.To != "codex" {
		t.Errorf("Next = %+v, want codex to take over", e)
	}
	apply(t, &s, flow.Reassigned{Step: 1, Call: flow.TaskCall, Number: 1, To: "codex"})
	if e, ok := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Spawn); !ok || e.GoesOn {
		t.Errorf("Next = %+v, want the work begun anew", e)
	}
	tool := after(t, start, one, work, flow.RebootTested{AttemptRef: work.AttemptRef, Anomaly: flow.Anomaly{Check: "tool"}, Decision: flow.Stuck, Text: "TOOL_UNAVAILABLE: mcp:lab"},
		flow.AttemptStopped{AttemptRef: work.AttemptRef})
	end, _ := flow.Next(&tool, flow.Board{}).(flow.Finish)
	if p := tool.Proposal(end); p == nil || p.Strategy != flow.Specialist {
		t.Errorf("%+v: proposal %+v, want another agent that has the tool", end, p)
	}

	work.Plan = &flow.Plan{Command: true, Rounds: 0}
	look := attempt(1, flow.CommandCall, 2)
	look.Input = work.Input
	never := after(t, begin, one, work, flow.ReplyAccepted{AttemptRef: work.AttemptRef, Status: "ok"}, look, flow.ReviewHeld{AttemptRef: look.AttemptRef, Feedback: "no"})
	if e, ok := flow.Next(&never, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Finish); !ok || never.Proposal(e) != nil {
		t.Errorf("Next = %+v, want a person to look at the work", e)
	}
}
