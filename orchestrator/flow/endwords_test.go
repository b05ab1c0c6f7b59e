package flow_test

import (
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestEndWords: what the text of an end tells stands in fields beside it, whatever its words are.
func TestEndWords(t *testing.T) {
	walked := func(status, manager string) flow.State {
		return flow.State{Statuses: []flow.TaskStatus{{Task: "a.md", Status: status}},
			Last: flow.ManagerReply{Task: "a.md", Status: manager, Message: "why", BoardSHA: "s", Walked: true}}
	}
	board := func(open ...flow.TaskStatus) flow.Board {
		return flow.Board{Terminal: true, SHA: "s", Rest: flow.Rest{Tasks: 2, Open: open}}
	}
	accepted, lenient := walked("ok", "ok"), walked("ok", "ok")
	accepted.Last.Accepted, lenient.Lenient = "accepted by you", true
	skipped := board()
	skipped.Rest.Skipped = []flow.TaskStatus{{Task: "b.md", Status: flow.StatusSkipped}}
	model := walked("blocked", "blocked")
	model.Last.Walked = false
	for name, tt := range map[string]struct {
		state            flow.State
		board            flow.Board
		outcome          event.Outcome
		remarked, quotes bool
		undone           string
	}{
		"complete":                      {walked("ok", "ok"), board(), event.Complete, false, false, ""},
		"with a skipped task":           {walked("ok", "ok"), skipped, event.Complete, true, false, ""},
		"accepted by a person":          {accepted, board(), event.Complete, true, false, ""},
		"incomplete":                    {walked("ok", "ok"), board(flow.TaskStatus{Task: "b.md"}), event.Incomplete, true, false, "1 of 2 tasks was never worked on: b.md"},
		"lenient":                       {lenient, board(flow.TaskStatus{Task: "b.md"}), event.Complete, true, false, "1 of 2 tasks was never worked on: b.md"},
		"the walk repeats the agent":    {walked("blocked", "blocked"), board(), event.NeedsPerson, false, true, ""},
		"the walk has words of its own": {walked("ok", "blocked"), board(), event.NeedsPerson, false, false, ""},
		"a model has words of its own":  {model, board(), event.NeedsPerson, false, false, ""},
	} {
		end := flow.End(&tt.state, tt.board)
		if end.Outcome != tt.outcome || end.Remarked != tt.remarked || end.Quotes != tt.quotes || end.Undone != tt.undone {
			t.Errorf("%s: %+v, want %s, remarked %t, quotes %t, undone %q", name, end, tt.outcome, tt.remarked, tt.quotes, tt.undone)
		}
	}
}
