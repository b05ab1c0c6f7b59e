package event_test

import (
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
)

// TestWordsOfCalls: what a call does, and who makes it, in the words of every view.
func TestWordsOfCalls(t *testing.T) {
	for _, tt := range []struct {
		call            event.Call
		of, aim, player string
	}{
		{event.TaskCall, "a.md", "give a.md to Implementor", "Implementor"},
		{event.CommandCall, "review of a.md", "have the work of Implementor on a.md reviewed", "check 2"},
		{event.ReviewCall, "review of a.md", "have the work of Implementor on a.md reviewed", "review 2"},
		{event.ManagerCall, "done: a.md", "ask the Manager what follows a.md", "Manager"},
		{event.ReadyCall, "a.md", "have Implementor get ready", "Implementor"},
		{event.CheckpointCall, "a.md", "have Implementor look at a.md", "Implementor"},
	} {
		r := event.AttemptRef{Call: tt.call, Task: "a.md", Role: "Implementor", Round: 2}
		if of, aim, player := tt.call.Of("a.md"), r.Aim(), r.Short(); of != tt.of || aim != tt.aim || player != tt.player {
			t.Errorf("%s: %q, %q, %q, want %q, %q, %q", tt.call, of, aim, player, tt.of, tt.aim, tt.player)
		}
	}
}

// TestReviewsFollow: the command reviews the work first, then the agent.
func TestReviewsFollow(t *testing.T) {
	for _, tt := range []struct {
		plan  event.Plan
		calls string
	}{
		{event.Plan{}, ""},
		{event.Plan{Command: true}, "command"},
		{event.Plan{Agent: true}, "review"},
		{event.Plan{Command: true, Agent: true}, "command review"},
	} {
		var calls []string
		for c := tt.plan.After(event.TaskCall); c != "" && len(calls) < 9; c = tt.plan.After(c) {
			calls = append(calls, string(c))
		}
		if got := strings.Join(calls, " "); got != tt.calls {
			t.Errorf("%+v: %q, want %q", tt.plan, got, tt.calls)
		}
	}
}

// TestPatience: each class that waits has a patience of its own; no other class waits.
func TestPatience(t *testing.T) {
	l := event.Limits{BusyMillis: 1000, LimitMillis: 60_000}
	for class, want := range map[event.Class]time.Duration{event.ClassBusy: time.Second, event.ClassLimit: time.Minute} {
		if got := l.Patience(class); got != want || !class.IsWait() {
			t.Errorf("%s: %v, want %v", class, got, want)
		}
	}
	for _, class := range []event.Class{"", event.ClassAccepted, event.ClassCut, event.ClassFormat, event.ClassTooLong} {
		if class.IsWait() {
			t.Errorf("%s waits", class)
		}
	}
}

// TestEdges: the values at which a wait is told of, a day is named, a message is cut, and an attempt counts.
func TestEdges(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	wait := func(d time.Duration) event.ProviderWait {
		return event.ProviderWait{Role: "Implementor", Provider: "claude", Class: event.ClassLimit, Since: at, Until: at.Add(d), Named: true}
	}
	for d, told := range map[time.Duration]bool{10*time.Minute - 1: false, 10 * time.Minute: true} {
		if s := wait(d).Sentence(); (s.Topic == event.AboutLater) != told {
			t.Errorf("a wait of %v is told of: %t, want %t", d, !told, told)
		}
	}
	for d, named := range map[time.Duration]bool{20 * time.Hour: false, 20*time.Hour + 1: true} {
		if text := wait(d).Waits(); strings.Contains(text, "Jan") != named {
			t.Errorf("a wait of %v: %s", d, text)
		}
	}
	for n, cut := range map[int]bool{400: false, 401: true} {
		if got := event.Brief(strings.Repeat("x", n)); strings.HasSuffix(got, "…") != cut {
			t.Errorf("a message of %d letters is cut: %t", n, !cut)
		}
	}
	var u event.Used
	if u.AddOpen(); u.Attempts != 1 {
		t.Errorf("%d attempts, want 1", u.Attempts)
	}
	if u := (event.Used{Cost: 1<<63 - 1}).Plus(event.Used{Cost: 1}); u.Cost != 1<<63-1 {
		t.Errorf("the cost is %d, want the greatest", u.Cost)
	}
}
