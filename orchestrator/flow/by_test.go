package flow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// anyBy leaves out what ends a run and what its text tells: TestBy and TestEndWords hold that.
var anyBy = cmpopts.IgnoreFields(flow.Finish{}, "By", "Remarked", "Undone", "Quotes")

// TestBy: an end says what brought it about.
func TestBy(t *testing.T) {
	step := func(change func(*flow.Step)) flow.State {
		s := flow.Step{Number: 1, Task: "a.md", Role: "Implementor", Call: event.TaskCall}
		change(&s)
		return flow.State{Step: &s, Limits: event.Limits{MaxRetries: 1}}
	}
	over := func(status string) flow.State {
		return flow.State{Last: flow.ManagerReply{Status: status, BoardSHA: "s"}}
	}
	open := flow.Board{Terminal: true, SHA: "s", Rest: flow.Rest{Tasks: 2, Open: []flow.TaskStatus{{Task: "b.md"}}}}
	marked := flow.Board{Terminal: true, SHA: "s", Rest: flow.Rest{Tasks: 1, Marked: []flow.TaskStatus{{Task: "b.md", Status: "blocked"}}}}
	accepted := over("ok")
	accepted.Last.Accepted = "accepted by you"
	aside := func(status string) flow.State {
		return flow.State{KeepGoing: true, Manager: event.Walker, Aside: []flow.Aside{{Task: "a.md", Status: status, Tried: true}}}
	}
	for name, tt := range map[string]struct {
		state flow.State
		board flow.Board
		want  event.By
	}{
		"all is done":          {over("ok"), flow.Board{Terminal: true, SHA: "s"}, event.ByOK},
		"undone":               {over("ok"), open, event.ByUndone},
		"marked":               {over("ok"), marked, event.ByMark},
		"the Manager's status": {over("blocked"), open, event.ByStatus},
		"a person accepted":    {accepted, open, event.ByDecision},
		"as the board says":    {flow.State{}, flow.Board{Terminal: true, Ended: "error"}, event.ByStatus},
		"no valid reply":       {step(func(s *flow.Step) { s.Rejected = 2 }), flow.Board{}, event.ByNoReply},
		"a crash":              {step(func(s *flow.Step) { s.Rejected, s.Crashed = 2, true }), flow.Board{}, event.ByCrash},
		"stuck":                {step(func(s *flow.Step) { s.Unsettled = "STUCK: no sign" }), flow.Board{}, event.ByWatch},
		"a loop":               {step(func(s *flow.Step) { s.Unsettled = "LOOP_SUSPECTED: round" }), flow.Board{}, event.ByLoop},
		"a review":             {step(func(s *flow.Step) { s.Unsettled = "not content" }), flow.Board{}, event.ByReview},
		"no verdict":           {step(func(s *flow.Step) { s.Call, s.Rejected = event.ReviewCall, 2 }), flow.Board{}, event.ByReview},
		"declined":             {step(func(s *flow.Step) { s.Declined = "filtered" }), flow.Board{}, event.ByProvider},
		"a limit of the role":  {step(func(s *flow.Step) { s.OwnLimit = "max_turns" }), flow.Board{}, event.ByTaskLimit},
		"set aside":            {aside("blocked"), flow.Board{Task: "a.md"}, event.BySetAside},
		"set aside at a limit": {aside(flow.StatusLimit), flow.Board{Task: "a.md"}, event.ByTaskLimit},
		"a task in quarantine": {flow.State{Quarantine: []flow.Quarantine{{Task: "a.md"}}}, flow.Board{Task: "a.md"}, event.ByLoop},
		"a checkpoint":         {flow.State{Supervisor: &flow.Supervisor{Block: &flow.Block{Text: "no tests"}}}, flow.Board{Task: "a.md"}, event.ByCheckpoint},
		"a limit of the run":   {flow.State{Limits: event.Limits{MaxSteps: 1}, Steps: 1}, flow.Board{Task: "a.md"}, ""},
	} {
		end, ok := flow.Next(&tt.state, tt.board).(flow.Finish)
		if !ok || end.By != tt.want {
			t.Errorf("%s: %+v, want by %q", name, end, tt.want)
		}
	}
}
