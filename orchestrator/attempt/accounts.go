package attempt

import "kanban-run/orchestrator/agent"

// Accounts maps the ID of each session to the spending of the session so far. Some tools report the
// total of a session. Without Accounts, each later attempt and each fork would be charged for the
// first attempt's work again.
type Accounts map[string]agent.Spending

// Charge returns the spending of one attempt, or nil if it is unknown. The parameter parent is the
// session that the attempt forked or resumed.
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
