package call

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/roster"
)

// TestRestore: the accounts of an open step are what the journal says of its sessions,
// and of no step before it.
func TestRestore(t *testing.T) {
	cents := func(n int64) *event.Spending { return &event.Spending{Input: n, Cost: &n} }
	c := NewCaller(Turn{Used: &event.Used{}})
	for _, e := range []event.Event{
		event.StepStarted{Step: 1}, event.ReplyAccepted{Session: "old", Spent: cents(1)},
		event.StepStarted{Step: 2}, event.ReplyRejected{Session: "s", Spent: cents(10)}, event.AttemptStopped{Session: "s", Spent: cents(5)},
		event.AttemptStopped{Session: "s"}, event.ReplyRejected{Spent: cents(100)}, event.RunStarted{},
	} {
		c.Restore(e)
	}
	cost := int64(15)
	if diff := cmp.Diff(attempt.Accounts{"s": {Input: 15, Cost: &cost}}, c.accounts); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	total := int64(22)
	out := &attempt.Ended{Session: "s", Cumulative: true, Stopped: true, Spent: &agent.Spending{Input: 16, Cost: &total}}
	if got := c.charge(&Attempt{Player: &roster.Player{Adapter: agent.Exec()}}, out, 0); got.Input != 1 || *got.Cost != 7 {
		t.Errorf("a session that goes on is charged %+v, want what came after the earlier run", got)
	}
}
