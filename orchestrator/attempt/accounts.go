package attempt

import "kanban-run/orchestrator/agent"

// Accounts holds the spending of sessions so far, by their IDs. Without it, a tool that reports the
// total of a session would charge the first attempt's work again with each later attempt and each
// fork.
type Accounts map[string]agent.Spending

// Charge returns the spending of one attempt, or nil if it is unknown. parent is the session that
// the attempt forked or resumed.
func (a Accounts) Charge(o *Ended, parent string) *agent.Spending {
	if o.Spent == nil || !o.Cumulative || o.Session == "" {
		return o.Spent
	}
	before := a.balance(o.Session, parent)
	own := o.Spent.Minus(before)
	a[o.Session] = *o.Spent
	return &own
}

func (a Accounts) balance(session, parent string) agent.Spending {
	if known, ok := a[session]; ok {
		return known
	}
	return a[parent]
}
