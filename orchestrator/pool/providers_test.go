package pool

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
	p := newProviders()
	var has *Permit // the last permit that was given
	ask := func(provider string, want bool, until time.Time) <-chan struct{} {
		t.Helper()
		may, wait, other := p.ask(provider, "m", now)
		if may != nil {
			has = may
		}
		if (may != nil) != want || (wait != nil) != !until.IsZero() || wait != nil && wait.Until != until {
			t.Errorf("ask(%s) = %v, %+v, want %t until %v", provider, may, wait, want, until)
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
	has.Refused(event.ProviderWait{Until: until})
	ask("claude", false, until)
	ask("codex", true, time.Time{})

	now = until
	ask("claude", true, time.Time{})
	other := ask("claude", false, time.Time{})
	if other == nil || isClosed(other) {
		t.Fatal("a second board does not wait for the first one")
	}
	has.GiveBack() // it learned nothing: an attempt that ended in another way
	if !isClosed(other) {
		t.Error("the second board is not told that the first one has asked")
	}
	ask("claude", true, time.Time{})
	other = ask("claude", false, time.Time{})
	later := now.Add(20 * time.Second)
	has.Refused(event.ProviderWait{Until: later})
	if ask("claude", false, later); !isClosed(other) {
		t.Error("the second board is not told that the provider refused again")
	}

	now = later
	ask("claude", true, time.Time{})
	other = ask("claude", false, time.Time{})
	emit := has.WatchService(func(agent.Event) {})
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
	has.GiveBack()
}

// TestPermitIsGivenBackOnce: a board that gives back a permit that it has no more takes it from no other board.
func TestPermitIsGivenBackOnce(t *testing.T) {
	now := time.Date(2026, time.November, 25, 22, 0, 0, 0, time.UTC)
	p := newProviders()
	first, _, _ := p.ask("claude", "m", now)
	first.Refused(event.ProviderWait{Until: now})
	asks, _, _ := p.ask("claude", "m", now)
	asks.GiveBack()
	second, _, _ := p.ask("claude", "m", now)
	asks.GiveBack()
	first.GiveBack()
	if third, _, other := p.ask("claude", "m", now); second == nil || third != nil || other == nil {
		t.Errorf("a third board gets %v while the second one asks", third)
	}
}

// TestAllowanceOfAModel: where the allowance of one model is used up, only the boards that ask for that model wait.
func TestAllowanceOfAModel(t *testing.T) {
	now := time.Date(2026, time.November, 28, 22, 0, 0, 0, time.UTC)
	until := now.Add(time.Hour)
	p := newProviders()
	waits := func(model string) bool { _, wait, _ := p.ask("claude", model, now); return wait != nil }
	first, _, _ := p.ask("claude", "large", now)
	first.Refused(event.ProviderWait{Until: until, Model: "large"})
	if !waits("large") || waits("small") {
		t.Errorf("large waits: %t, want true; small waits: %t, want false", waits("large"), waits("small"))
	}
	second, _, _ := p.ask("claude", "small", now)
	second.Refused(event.ProviderWait{Until: until})
	if !waits("large") || !waits("small") || !waits("default") {
		t.Error("a board does not wait for a provider whose limit is reached")
	}

	now = until
	asks, _, _ := p.ask("claude", "large", now)
	if other, _, asked := p.ask("claude", "small", now); asks == nil || other != nil || asked == nil {
		t.Fatal("two boards ask the provider, or none")
	}
	asks.Refused(event.ProviderWait{Until: until.Add(time.Hour), Model: "large"})
	if !waits("large") || waits("small") {
		t.Error("a provider that refuses one model is not asked for another")
	}
}
