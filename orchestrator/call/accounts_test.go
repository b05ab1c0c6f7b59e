package call

import (
	"strings"
	"testing"
	"time"

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
		event.StepStarted{Step: 1}, event.ReplyAccepted{End: event.End{Session: "old", Spent: cents(1)}},
		event.StepStarted{Step: 2}, event.ReplyRejected{End: event.End{Session: "s", Spent: cents(10)}}, event.AttemptStopped{End: event.End{Session: "s", Spent: cents(5)}},
		event.AttemptStopped{End: event.End{Session: "s"}}, event.ReplyRejected{End: event.End{Spent: cents(100)}}, event.RunStarted{},
	} {
		c.Restore(e)
	}
	cost := int64(15)
	if diff := cmp.Diff(attempt.Accounts{"s": {Input: 15, Cost: &cost}}, c.accounts); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	total := int64(22)
	out := &attempt.Ended{Session: "s", Cumulative: true, Cut: attempt.ByRun, Spent: &agent.Spending{Input: 16, Cost: &total}}
	if got := c.charge(&Attempt{Player: &roster.Player{Adapter: agent.Exec()}}, out); got.Input != 1 || *got.Cost != 7 {
		t.Errorf("a session that goes on is charged %+v, want what came after the earlier run", got)
	}
}

// TestWarnings: once of each limit that is nearly used, and of a limit of cost that cannot hold.
func TestWarnings(t *testing.T) {
	r := newRig(t)
	r.journal.state.Limits.MaxCost = 100
	a := r.start(t)
	r.charge(a, &attempt.Ended{Cut: attempt.ByRun})
	if r.notices.told != nil {
		t.Errorf("of an attempt that was stopped it tells %q", r.notices.told)
	}
	for range 2 {
		a.millis = 1000
		r.charge(a, &attempt.Ended{})
	}
	if len(r.notices.told) != 1 || !strings.Contains(r.notices.told[0], "Implementor (tool) told no cost of attempt 1 in step 1") {
		t.Errorf("told %q", r.notices.told)
	}
	r.notices.told, r.journal.state.Used.Cost = nil, 90
	r.WarnOfLimits()
	r.WarnOfLimits()
	if len(r.notices.told) != 1 {
		t.Errorf("told %q", r.notices.told)
	}
	if r.used.Attempts != 3 || r.used.Millis != 2000 {
		t.Errorf("used %+v", r.used)
	}
}

// TestMeasure: time that the machine, or a person with Ctrl-Z, took does not count.
func TestMeasure(t *testing.T) {
	r := newRig(t)
	a := r.start(t)
	now := time.Now()
	r.Now = func() time.Time { return now }
	a.began = now.Add(-10 * time.Second)
	if r.measure(a, &attempt.Ended{Paused: 4 * time.Second}); a.millis != 6000 || r.paused != 4*time.Second {
		t.Errorf("it took %d ms, and %s were paused", a.millis, r.paused)
	}
	for _, tt := range []struct {
		limits attempt.TimeLimits
		frozen time.Duration
		want   int64
	}{
		{attempt.TimeLimits{Run: time.Minute, Task: time.Hour}, 0, 60_000},
		{attempt.TimeLimits{Run: time.Hour, Task: time.Minute}, 30 * time.Second, 90_000},
		{attempt.TimeLimits{Run: time.Hour, Until: now.Add(10 * time.Second)}, 0, 20_000},
		{attempt.TimeLimits{Task: time.Second}, 5 * time.Second, 10_000},
	} {
		a.Spec.Limits = tt.limits
		if r.measure(a, &attempt.Ended{Cut: attempt.ByTime, Frozen: tt.frozen}); a.millis != tt.want || a.frozen != tt.frozen.Milliseconds() {
			t.Errorf("at the limits %+v it took %d ms, %d of them frozen, want %d", tt.limits, a.millis, a.frozen, tt.want)
		}
	}
}

// TestMeasureRoundsUp: an attempt that has ended took a time that shows, however short it was.
func TestMeasureRoundsUp(t *testing.T) {
	r := newRig(t)
	a := r.start(t)
	began := a.began
	r.Now = func() time.Time { return began.Add(time.Microsecond) }
	if r.measure(a, &attempt.Ended{}); a.millis != 1 || r.used.Millis != 1 {
		t.Errorf("it took %d ms, and %d count", a.millis, r.used.Millis)
	}
}
