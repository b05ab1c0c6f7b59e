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

// refused stores the wait that follows after the provider has refused a call.
func (p *providers) refused(provider string, wait event.ProviderWait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(provider)
	p.all[provider] = &refusal{wait: wait, asked: make(chan struct{})}
}

// serves is called when the provider serves a call. It removes the provider's refusal, if any.
func (p *providers) serves(provider string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(provider)
}

// stopAsking is called when a call to the provider has ended. If a board is still noted as asking
// the provider, stopAsking deletes the note, so that another board may ask.
func (p *providers) stopAsking(provider string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.all[provider]; r != nil && r.asks {
		p.end(provider)
		p.all[provider] = &refusal{wait: r.wait, asked: make(chan struct{})}
	}
}

func (p *providers) end(provider string) {
	if r := p.all[provider]; r != nil {
		close(r.asked)
		delete(p.all, provider)
	}
}

// ask reports whether a call to the provider is allowed to begin. Before the time
// refusal.wait.Until, ask returns false and refusal.wait. After that time, if another board is
// asking the provider, ask returns false and a channel. The channel is closed once that board has
// asked.
func (p *providers) ask(provider string, now time.Time) (may bool, wait *event.ProviderWait, other <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.all[provider]
	switch {
	case r == nil:
		return true, nil, nil
	case now.Before(r.wait.Until):
		wait := r.wait
		return false, &wait, nil
	case r.asks:
		return false, nil, r.asked
	default:
		r.asks = true
		return true, nil, nil
	}
}

// watchService returns a function that calls emit. The function also notes that the provider serves
// calls, as soon as the agent's model works. Call watchService before the attempt starts.
func (p *providers) watchService(provider string, emit func(agent.Event)) func(agent.Event) {
	serves := sync.OnceFunc(func() { p.serves(provider) })
	return func(e agent.Event) {
		if e.IsProgress() && e.Kind != agent.Result && e.Kind != agent.Unread {
			serves()
		}
		emit(e)
	}
}
