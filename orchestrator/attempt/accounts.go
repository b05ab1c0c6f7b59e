package attempt

import "kanban-run/orchestrator/agent"

// Accounts maps the ID of each session to the spending of the session so far. Some tools report the
// total of a session. Without Accounts, each later attempt and each fork would be charged for the
// first attempt's work again.
type Accounts map[string]agent.Spending

// Charge returns the spending of one attempt, or nil if it is unknown. The parameter parent is the
// session that the attempt forked or resumed. An attempt that resumes a session is also charged for
// what earlier attempts in the session have cost and could not report.
func (a Accounts) Charge(o *Ended, parent string) *agent.Spending {
	if o.Session == "" {
		return o.Spent
	}
	before, known := a[o.Session]
	if !known {
		before = a[parent]
	}
	if o.Spent == nil {
		a[o.Session] = before // a later attempt in the session may tell what this one cost
		return nil
	}
	if o.Cumulative {
		own := o.Spent.Minus(before)
		a[o.Session] = *o.Spent
		return &own
	}
	own, sum := *o.Spent, before
	if o.SessionCost != nil && known && o.Session == parent {
		own.Cost = new(max(cost(own), *o.SessionCost-cost(before)))
	}
	sum.Add(own)
	if o.SessionCost != nil {
		sum.Cost = o.SessionCost
	}
	a[o.Session] = sum
	return &own
}

// cost returns the cost of a spending, or 0 if it is unknown.
func cost(s agent.Spending) int64 {
	if s.Cost == nil {
		return 0
	}
	return *s.Cost
}
