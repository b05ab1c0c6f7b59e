package pool

import (
	"slices"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// providers has the providers that have refused a call of a board of this process. All boards of
// such a provider wait together; if the allowance of one model is used up, only those that ask for
// that model. After the wait one board asks the provider. The other boards go on
// once the agent of the asking board shows that the provider serves calls again.
type providers struct {
	mu  sync.Mutex
	all map[scope]*refusal
}

// scope tells what a refusal holds for: a provider or, with a model, that model of the provider.
type scope struct{ provider, model string }

// both returns the scopes of the refusals that hold a call back.
func (s scope) both() [2]scope { return [2]scope{{provider: s.provider}, s} }

type refusal struct {
	wait  event.ProviderWait // the wait of the board that was refused last
	asks  bool               // a board is asking the provider
	asked chan struct{}      // closed once the asking board knows whether the provider serves
}

func newProviders() *providers { return &providers{all: map[scope]*refusal{}} }

func newRefusal(wait event.ProviderWait) *refusal {
	return &refusal{wait: wait, asked: make(chan struct{})}
}

// Permit is a board's right to call a provider. While a refusal of the provider stands, only one
// board has a permit. The board gives the permit back with GiveBack on every way out of the call.
type Permit struct {
	*providers
	call scope
	asks []*refusal // the refusals after which this board asks the provider; none: nothing was refused
}

// ask returns a permit if a call to the provider, for the given model, is allowed to begin. Before
// the time refusal.wait.Until, ask returns no permit, and refusal.wait. After that time, if another
// board is asking the provider, ask returns no permit, and a channel. The channel is closed once that
// board has asked.
func (p *providers) ask(provider, model string, now time.Time) (permit *Permit, wait *event.ProviderWait, other <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	permit = &Permit{providers: p, call: scope{provider, model}}
	for _, of := range permit.call.both() {
		r := p.all[of]
		switch {
		case r == nil:
			continue
		case now.Before(r.wait.Until):
			wait := r.wait
			return nil, &wait, nil
		case r.asks:
			return nil, nil, r.asked
		}
		permit.asks = append(permit.asks, r)
	}
	for _, r := range permit.asks {
		r.asks = true
	}
	return permit, nil, nil
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
	of := p.call
	if wait.Model == "" {
		of.model = ""
	}
	p.all[of] = newRefusal(wait)
}

// GiveBack lets another board ask the provider, if this one still has the right to.
func (p *Permit) GiveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range p.call.both() {
		if r := p.all[of]; r != nil && slices.Contains(p.asks, r) {
			p.forget(of)
			p.all[of] = newRefusal(r.wait)
		}
	}
}

// end forgets the refusals of the provider and of the model. A provider that serves a model, or
// refuses that model alone, serves others, too.
func (p *Permit) end() {
	for _, of := range p.call.both() {
		p.forget(of)
	}
}

func (p *providers) forget(of scope) {
	if r := p.all[of]; r != nil {
		close(r.asked)
		delete(p.all, of)
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
