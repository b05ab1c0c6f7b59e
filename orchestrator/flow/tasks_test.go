package flow_test

import (
	"fmt"
	"testing"

	"kanban-run/orchestrator/event"
)

// TestTasksAreCounted: what each task has used is kept for the last 256, also while no limit asks
// for it, and is fresh after a finish.
func TestTasksAreCounted(t *testing.T) {
	b := newBook(t).own("one")
	check := func(tasks int) {
		t.Helper()
		if len(b.State.Tasks) != tasks {
			t.Fatalf("%d tasks are told apart, want %d", len(b.State.Tasks), tasks)
		}
	}
	b.write(limited(event.Limits{}))
	n := 0
	work := func(tasks int) {
		for i := range tasks {
			n++
			b.write(stepOf(n, fmt.Sprintf("t%d", i), int64(i), 7)...)
		}
	}
	work(3)
	check(3)
	if got := b.State.Tasks[2]; got.Task != "t2" || got.Steps != 1 || got.Used.Attempts != 2 {
		t.Errorf("t2 has used %+v", got)
	}
	work(300)
	check(256)
	if b.State.Finished != n || b.State.Steps != n {
		t.Errorf("%d and %d steps are counted, want %d", b.State.Finished, b.State.Steps, n)
	}
	if got := b.State.Tasks[0].Task; got != "t44" {
		t.Errorf("the oldest of 300 tasks is %s, want t44", got)
	}
	b.write(event.RunFinished{Outcome: event.LimitReached}, limited(event.Limits{MaxTaskCost: 1 << 40}))
	check(0)
	work(2)
	b.write(event.RunInterrupted{Outcome: event.Interrupted}, limited(event.Limits{}))
	check(2)
}
