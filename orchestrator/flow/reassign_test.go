package flow_test

import (
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestReassign: seed 002, "Reassignment Readiness": the next agent of the list, with fresh retries
// and the same input; behind the last one the run ends, and a person gets a proposal.
func TestReassign(t *testing.T) {
	begin := start
	begin.Reassign = []event.Substitutes{{Role: "implementor", Agents: []string{"codex"}}, {Role: "manager", Agents: []string{"walk"}}}
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	one := one
	one.Role = "Implementor"
	s := after(t, append([]event.Event{begin, one}, series(event.TaskCall, 4)...)...)
	e, ok := flow.Next(&s, board).(flow.Reassign)
	if !ok || e.Step != 1 || e.Number != 1 || e.To != "codex" || e.Reason == "" {
		t.Fatalf("Next = %+v, want codex to take over", e)
	}
	taken := event.Reassigned{Step: 1, Task: "t1", Role: "Implementor", Call: event.TaskCall, Number: 1, To: "codex"}
	if err := s.Apply(taken); err != nil {
		t.Fatal(err)
	}
	if e, ok := flow.Next(&s, board).(flow.Spawn); !ok || e.Attempt != 5 || s.Substitute() != "codex" || s.Step.Input == nil {
		t.Errorf("Next = %+v for %q, want the fifth attempt with the same input, by codex", e, s.Substitute())
	}
	for n := 5; n <= 8; n++ {
		apply(t, &s, attempt(1, event.TaskCall, n), rejection(1, event.TaskCall, n))
	}
	end, ok := flow.Next(&s, board).(flow.Finish)
	if p := s.Proposal(end); !ok || end.Outcome != event.Exhausted || p == nil || p.Strategy != event.Replace || p.Role != "Implementor" {
		t.Errorf("Next = %+v, proposal %+v", end, p)
	}
	apply(t, &s, event.RunFinished{Outcome: event.Exhausted}, begin)
	if e, ok := flow.Next(&s, board).(flow.Spawn); !ok || s.Substitute() != "" {
		t.Errorf("the next run: Next = %+v by %q, want the role's own agent", e, s.Substitute())
	}

	manager := after(t, append([]event.Event{begin, one, attempt(1, event.TaskCall, 1), tasked}, series(event.ManagerCall, 4)...)...)
	if e, ok := flow.Next(&manager, board).(flow.Reassign); !ok || e.To != "walk" {
		t.Errorf("Next = %+v, want walk to take over", e)
	}
	for name, tt := range map[string]struct {
		state flow.State
		event event.Reassigned
	}{
		"no step":      {after(t, begin), taken},
		"another call": {manager, taken},
		"at work":      {after(t, begin, one, attempt(1, event.TaskCall, 1)), taken},
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
	begin.Reassign = []event.Substitutes{{Role: "Implementor", Agents: []string{"codex"}}}
	one, work := one, attempt(1, event.TaskCall, 1)
	one.Role = "Implementor"
	hung := event.RebootTested{AttemptRef: work.AttemptRef, Anomaly: event.Anomaly{Check: "idle"}, Decision: event.Stuck, Text: "silent"}
	s := after(t, begin, one, work, hung, event.AttemptStopped{AttemptRef: work.AttemptRef})
	if e, ok := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Reassign); !ok || e.To != "codex" {
		t.Errorf("Next = %+v, want codex to take over", e)
	}
	apply(t, &s, event.Reassigned{Step: 1, Call: event.TaskCall, Number: 1, To: "codex"})
	if e, ok := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Spawn); !ok || e.GoesOn {
		t.Errorf("Next = %+v, want the work begun anew", e)
	}
	tool := after(t, start, one, work, event.ToolUnavailable{AttemptRef: work.AttemptRef, Tool: "mcp:lab", Agents: 1}, event.RebootTested{AttemptRef: work.AttemptRef, Anomaly: event.Anomaly{Check: "tool"}, Decision: event.Stuck, Text: "TOOL_UNAVAILABLE: mcp:lab"},
		event.AttemptStopped{AttemptRef: work.AttemptRef})
	end, _ := flow.Next(&tool, flow.Board{}).(flow.Finish)
	if p := tool.Proposal(end); p == nil || p.Strategy != event.Specialist {
		t.Errorf("%+v: proposal %+v, want another agent that has the tool", end, p)
	}
	apply(t, &tool, event.RunFinished{Outcome: event.NeedsPerson}, start)
	if p := tool.Proposal(end); p != nil {
		t.Errorf("a run that only asks again proposes %+v", p)
	}

	work.Plan = &event.Plan{Command: true, Rounds: 0}
	look := attempt(1, event.CommandCall, 2)
	look.Input = work.Input
	never := after(t, begin, one, work, event.ReplyAccepted{AttemptRef: work.AttemptRef, Status: "ok"}, look, event.ReviewHeld{AttemptRef: look.AttemptRef, Feedback: "no"})
	if e, ok := flow.Next(&never, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Finish); !ok || never.Proposal(e) != nil {
		t.Errorf("Next = %+v, want a person to look at the work", e)
	}
}
