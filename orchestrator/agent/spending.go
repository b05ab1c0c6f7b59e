package agent

// Spending is what work of a model came to. Input counts what was read from a cache, too.
type Spending struct {
	Input, Cached, Output int64  // in tokens
	Cost                  *int64 // in millionths of a US dollar; nil: the tool names no price
	Partial               bool   // of a part of it nobody knows what it came to
}

// Micros makes a Cost of an amount in US dollars; nil of what is no price.
func Micros(dollars float64) *int64 {
	if !(dollars >= 0 && dollars < 1e9) {
		return nil
	}
	n := int64(dollars*1e6 + 0.5)
	return &n
}

// Add adds what something else came to. A price that is known counts, also where another is not.
func (u *Spending) Add(o Spending) {
	u.Input, u.Cached, u.Output, u.Partial = u.Input+o.Input, u.Cached+o.Cached, u.Output+o.Output, u.Partial || o.Partial
	if o.Cost == nil {
		return
	}
	cost := *o.Cost
	if u.Cost != nil {
		cost += *u.Cost
	}
	u.Cost = &cost
}

// minus is what came after o, never less than nothing: a tool that begins to count anew has no debts.
func (u Spending) minus(o Spending) Spending {
	d := Spending{Partial: u.Partial, Input: max(0, u.Input-o.Input), Cached: max(0, u.Cached-o.Cached), Output: max(0, u.Output-o.Output)}
	if u.Cost != nil {
		cost := *u.Cost
		if o.Cost != nil {
			cost = max(0, cost-*o.Cost)
		}
		d.Cost = &cost
	}
	return d
}

// Accounts are what sessions came to so far, by their IDs. A tool that counts by the session would have the work of the first attempt
// charged again with every later one, and with every fork.
type Accounts map[string]Spending

// Charge returns what one attempt came to, nil where nobody knows. parent is the session that its own was forked from, or is.
func (a Accounts) Charge(o *Outcome, parent string) *Spending {
	if o.Spent == nil || !o.Cumulative || o.Session == "" {
		return o.Spent
	}
	own := o.Spent.minus(a.before(o.Session, parent))
	a[o.Session] = *o.Spent
	return &own
}

func (a Accounts) before(session, parent string) Spending {
	if known, ok := a[session]; ok {
		return known
	}
	return a[parent]
}
