package orchestrator

import (
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// TestProviders: the boards of one provider wait for it together. Then one asks it, and the others begin once
// the first one's model works.
func TestProviders(t *testing.T) {
	now := time.Date(2026, time.November, 25, 22, 0, 0, 0, time.UTC)
	p := &providers{all: map[string]*refusal{}}
	ask := func(provider string, want bool, until time.Time) <-chan struct{} {
		t.Helper()
		may, wait, other := p.ask(provider, now)
		if may != want || (wait != nil) != !until.IsZero() || wait != nil && wait.Until != until {
			t.Errorf("ask(%s) = %t, %+v, want %t until %v", provider, may, wait, want, until)
		}
		return other
	}
	isClosed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	ask("claude", true, time.Time{})
	until := now.Add(time.Minute)
	p.refused("claude", event.ProviderWait{Until: until})
	ask("claude", false, until)
	ask("codex", true, time.Time{})

	now = until
	ask("claude", true, time.Time{})
	other := ask("claude", false, time.Time{})
	if other == nil || isClosed(other) {
		t.Fatal("a second board does not wait for the first one")
	}
	p.stopAsking("claude") // it learned nothing: an attempt that ended in another way
	if !isClosed(other) {
		t.Error("the second board is not told that the first one has asked")
	}
	ask("claude", true, time.Time{})
	other = ask("claude", false, time.Time{})
	later := now.Add(20 * time.Second)
	p.refused("claude", event.ProviderWait{Until: later})
	if ask("claude", false, later); !isClosed(other) {
		t.Error("the second board is not told that the provider refused again")
	}

	now = later
	ask("claude", true, time.Time{})
	other = ask("claude", false, time.Time{})
	emit := p.watchService("claude", func(agent.Event) {})
	emit(agent.Event{Kind: agent.Retry})
	emit(agent.Event{Kind: agent.Text, Failed: true})
	if isClosed(other) {
		t.Error("a retry is taken for service")
	}
	emit(agent.Event{Kind: agent.Writing})
	if !isClosed(other) {
		t.Error("the second board is not told that the provider serves")
	}
	ask("claude", true, time.Time{})
	ask("claude", true, time.Time{})
	p.stopAsking("claude")
}
