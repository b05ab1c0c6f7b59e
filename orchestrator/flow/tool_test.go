package flow_test

import (
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestStoppedForTool: a missing tool that stops the work is a question that the next run does not walk past: seed 002,
// "Tool Unavailability". A person's answer is the way on.
func TestStoppedForTool(t *testing.T) {
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	stopped := func() flow.State {
		var s flow.State
		apply(t, &s, event.RunStarted{Limits: event.Limits{MaxRetries: 3}}, one)
		ref := flow.Next(&s, board).(flow.Spawn).AttemptRef
		apply(t, &s, event.AttemptStarted{AttemptRef: ref, Input: []byte("{}")},
			event.RebootTested{AttemptRef: ref, Decision: event.Stuck, Text: event.ToolStopped + "gh is not available",
				Anomaly: event.Anomaly{Check: event.ToolCheck, Tool: "gh"}})
		apply(t, &s, event.AttemptStopped{AttemptRef: ref, End: event.End{Left: "a"}},
			event.RunFinished{Outcome: event.NeedsPerson, Text: "stuck: gh is not available"})
		return s
	}
	s := stopped()
	for range 2 {
		apply(t, &s, event.RunStarted{Limits: event.Limits{MaxRetries: 3}})
		if end, ends := flow.Next(&s, board).(flow.Finish); !ends || end.Outcome != event.NeedsPerson {
			t.Fatalf("Next = %+v, want the question again", flow.Next(&s, board))
		}
		apply(t, &s, event.RunFinished{Outcome: event.NeedsPerson})
	}
	for choice, want := range map[event.Choice]event.Call{event.Retry: event.TaskCall, event.Accept: event.ManagerCall} {
		s := stopped()
		apply(t, &s, event.Acknowledged{About: event.AboutStep, Choice: choice, Task: "t1", BoardSHA: "a"},
			event.RunStarted{Limits: event.Limits{MaxRetries: 3}})
		if e, spawns := flow.Next(&s, board).(flow.Spawn); !spawns || e.Call != want {
			t.Errorf("%s: Next = %+v, want the %s call", choice, flow.Next(&s, board), want)
		}
	}

	// A version before this one went on by itself.
	s = stopped()
	apply(t, &s, event.RunStarted{Limits: event.Limits{MaxRetries: 3}})
	ref := event.AttemptRef{Step: s.Step.Number, Call: event.TaskCall, Task: "t1", Role: "Implementor", Attempt: s.Step.Started + 1}
	apply(t, &s, event.AttemptStarted{AttemptRef: ref, Input: []byte("{}")}, event.AttemptStopped{AttemptRef: ref})
	if _, spawns := flow.Next(&s, board).(flow.Spawn); !spawns {
		t.Errorf("Next = %+v, want the work that went on", flow.Next(&s, board))
	}
}
