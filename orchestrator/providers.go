package orchestrator

import (
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// providers has the providers that have refused a call of a board of this process. All boards of
// such a provider wait together. After the wait one board asks the provider. The other boards go on
// once the agent of the asking board shows that the provider serves calls again.
type providers struct {
	mu  sync.Mutex
	all map[string]*refusal // the key is roster.Player.Provider
}

type refusal struct {
	wait  event.ProviderWait // the wait of the board that was refused last
	asks  bool               // a board is asking the provider
	asked chan struct{}      // closed once the asking board knows whether the provider serves
}

func newRefusal(wait event.ProviderWait) *refusal {
	return &refusal{wait: wait, asked: make(chan struct{})}
}

// turn is a board's right to call a provider. While a refusal of the provider stands, only one
// board has a turn. The board gives the turn back with giveBack on every way out of the call.
type turn struct {
	*providers
	provider string
	asks     *refusal // the refusal after which this board asks the provider; nil: there is none
}

// ask returns a turn if a call to the provider is allowed to begin. Before the time
// refusal.wait.Until, ask returns no turn, and refusal.wait. After that time, if another board is
// asking the provider, ask returns no turn, and a channel. The channel is closed once that board
// has asked.
func (p *providers) ask(provider string, now time.Time) (t *turn, wait *event.ProviderWait, other <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.all[provider]
	switch {
	case r == nil:
		return &turn{p, provider, nil}, nil, nil
	case now.Before(r.wait.Until):
		wait := r.wait
		return nil, &wait, nil
	case r.asks:
		return nil, nil, r.asked
	default:
		r.asks = true
		return &turn{p, provider, r}, nil, nil
	}
}

// serves notes that the provider serves calls.
func (t *turn) serves() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
}

// refused notes that the provider has refused the call, and the wait that follows.
func (t *turn) refused(wait event.ProviderWait) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
	t.all[t.provider] = newRefusal(wait)
}

// giveBack lets another board ask the provider, if this one still has the right to.
func (t *turn) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.all[t.provider]; r != nil && r == t.asks {
		t.end()
		t.all[t.provider] = newRefusal(r.wait)
	}
}

func (t *turn) end() {
	if r := t.all[t.provider]; r != nil {
		close(r.asked)
		delete(t.all, t.provider)
	}
}

// watchService returns a function that calls emit. The function also notes that the provider serves
// calls, as soon as the agent's model works. Call watchService before the attempt starts.
func (t *turn) watchService(emit func(agent.Event)) func(agent.Event) {
	serves := sync.OnceFunc(t.serves)
	return func(e agent.Event) {
		if e.IsProgress() && e.Kind != agent.Result && e.Kind != agent.Unread {
			serves()
		}
		emit(e)
	}
}
