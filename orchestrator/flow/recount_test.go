package flow_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/flow"
)

// TestRecount: what a journal without limits of tasks says of them is what a state would have kept under such limits.
func TestRecount(t *testing.T) {
	b := newBook(t).own("one")
	var c flow.Recount
	counted := 0
	check := func(tasks int) {
		t.Helper()
		for _, e := range b.entries[counted:] {
			c.Add(e)
			counted++
		}
		if diff := cmp.Diff(b.State.Tasks, c.Tasks()); diff != "" || len(b.State.Tasks) != tasks {
			t.Fatalf("%d tasks, want %d; recounted (-kept +counted):\n%s", len(b.State.Tasks), tasks, diff)
		}
	}
	perTask := limited(flow.Limits{MaxTaskCost: 1 << 40})
	b.write(perTask)
	n := 0
	work := func(tasks int) {
		for i := range tasks {
			n++
			b.write(stepOf(n, fmt.Sprintf("t%d", i), int64(i), 7)...)
		}
	}
	work(3)
	check(3)
	work(300)
	check(256)
	b.write(flow.RunFinished{Outcome: flow.LimitReached}, perTask)
	check(0)
	work(2)
	b.write(flow.RunInterrupted{Outcome: flow.Interrupted}, perTask)
	check(2)
}

// TestLacksTasks: only limits of tasks that follow none, in what an earlier run has begun, need a recount.
func TestLacksTasks(t *testing.T) {
	of := flow.Limits{MaxTaskSteps: 2}
	begun := func(l flow.Limits) flow.State {
		return after(t, events([]flow.Event{limited(l)}, stepOf(1, "t1", 5, 7))...)
	}
	ended := begun(flow.Limits{})
	apply(t, &ended, flow.RunFinished{Outcome: flow.Complete})
	for name, tt := range map[string]struct {
		state  flow.State
		limits flow.Limits
		want   bool
	}{
		"first given":  {begun(flow.Limits{}), of, true},
		"given before": {begun(of), of, false},
		"not given":    {begun(flow.Limits{}), flow.Limits{}, false},
		"after an end": {ended, of, false},
		"never run":    {flow.State{}, of, false},
	} {
		if got := tt.state.LacksTasks(tt.limits); got != tt.want {
			t.Errorf("%s: LacksTasks = %v, want %v", name, got, tt.want)
		}
	}
	s := begun(flow.Limits{})
	apply(t, &s, flow.RunStarted{Limits: flow.Limits{MaxTaskCost: 5}, Uses: []flow.TaskUse{{Task: "t1", Used: flow.Used{Cost: 5}}}})
	if end, ok := flow.Next(s, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Finish); !ok || end.Outcome != flow.LimitReached {
		t.Errorf("Next = %+v, want the limit to be reached by what was used before it", end)
	}
}
