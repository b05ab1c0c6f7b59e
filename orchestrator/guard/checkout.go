package guard

import (
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Checkout is the guard that tells how an agent has moved the git checkout: it changes nothing.
type Checkout struct {
	Workspace *workspace.Workspace
	Append    func(event.Event) error
	before    workspace.Checkout
}

func (*Checkout) Name() string { return "checkout" }

// Begin notes nothing: behind a kill it is unknown who moved the checkout.
func (c *Checkout) Begin(*Turn) (any, error) {
	c.before = c.Workspace.MarkCheckout()
	return nil, nil
}

func (c *Checkout) End(t *Turn) error {
	moved := c.before.Moved()
	if len(moved) == 0 || t.IsOurs() {
		return nil
	}
	return c.Append(event.CheckoutMoved{AttemptRef: t.Ref, Moves: moved})
}

func (*Checkout) Resume(*flow.Step, bool, rundir.Note) error { return nil }
