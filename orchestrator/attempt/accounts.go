package attempt

import "kanban-run/orchestrator/agent"

// Accounts are what sessions came to so far, by their IDs. A tool that counts by the session would have the work of the first attempt
// charged again with every later one, and with every fork.
type Accounts map[string]agent.Spending

// Charge returns what one attempt came to, nil where nobody knows. parent is the session that its own was forked from, or is.
func (a Accounts) Charge(o *Outcome, parent string) *agent.Spending {
	if o.Spent == nil || !o.Cumulative || o.Session == "" {
		return o.Spent
	}
	own := o.Spent.Minus(a.before(o.Session, parent))
	a[o.Session] = *o.Spent
	return &own
}

func (a Accounts) before(session, parent string) agent.Spending {
	if known, ok := a[session]; ok {
		return known
	}
	return a[parent]
}
