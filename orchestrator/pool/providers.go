package pool

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

func newProviders() *providers { return &providers{all: map[string]*refusal{}} }

func newRefusal(wait event.ProviderWait) *refusal {
	return &refusal{wait: wait, asked: make(chan struct{})}
}

// Permit is a board's right to call a provider. While a refusal of the provider stands, only one
// board has a permit. The board gives the permit back with GiveBack on every way out of the call.
type Permit struct {
	*providers
	provider string
	asks     *refusal // the refusal after which this board asks the provider; nil: there is none
}

// ask returns a permit if a call to the provider is allowed to begin. Before the time
// refusal.wait.Until, ask returns no permit, and refusal.wait. After that time, if another board is
// asking the provider, ask returns no permit, and a channel. The channel is closed once that board
// has asked.
func (p *providers) ask(provider string, now time.Time) (permit *Permit, wait *event.ProviderWait, other <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.all[provider]
	switch {
	case r == nil:
		return &Permit{p, provider, nil}, nil, nil
	case now.Before(r.wait.Until):
		wait := r.wait
		return nil, &wait, nil
	case r.asks:
		return nil, nil, r.asked
	default:
		r.asks = true
		return &Permit{p, provider, r}, nil, nil
	}
}

// Serves notes that the provider serves calls.
func (p *Permit) Serves() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

// Refused notes that the provider has refused the call, and the wait that follows.
func (p *Permit) Refused(wait event.ProviderWait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.all[p.provider] = newRefusal(wait)
}

// GiveBack lets another board ask the provider, if this one still has the right to.
func (p *Permit) GiveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.all[p.provider]; r != nil && r == p.asks {
		p.end()
		p.all[p.provider] = newRefusal(r.wait)
	}
}

func (p *Permit) end() {
	if r := p.all[p.provider]; r != nil {
		close(r.asked)
		delete(p.all, p.provider)
	}
}

// WatchService returns a function that calls emit. The function also notes that the provider serves
// calls, as soon as the agent's model works. Call WatchService before the attempt starts.
func (p *Permit) WatchService(emit func(agent.Event)) func(agent.Event) {
	serves := sync.OnceFunc(p.Serves)
	return func(e agent.Event) {
		if e.IsProgress() && e.Kind != agent.Result && e.Kind != agent.Unread {
			serves()
		}
		emit(e)
	}
}
