package agent

import (
	"errors"
	"sync"
)

// givenUp is why a reader wanted an attempt to end before its time: the first reason counts. It is safe for concurrent use.
type givenUp struct {
	mu     sync.Mutex
	reason error
}

func (g *givenUp) because(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason == nil {
		g.reason = reason
	}
}

// overrule puts the reason in the place of what the stopped program left.
func (g *givenUp) overrule(r *Report) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var failure *Failure
	switch {
	case g.reason == nil:
	case errors.As(g.reason, &failure):
		r.Failure = &Failure{Reason: failure.Reason, Lost: failure.Lost}
	default:
		r.Err = g.reason
	}
}
