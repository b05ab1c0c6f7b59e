package agent

import "kanban-run/orchestrator/event"

// Spending is the cost of a model's work. Input includes the tokens read from a cache.
type Spending struct {
	Input, Cached, Output int64  // in tokens
	Cost                  *int64 // in millionths of a US dollar; nil if the tool names no price
	Partial               bool   // a part of the work is not counted
}

// Micros converts an amount in US dollars to a Cost. It returns nil unless the amount is at least 0
// and less than 1e9.
func Micros(dollars float64) *int64 {
	if !(dollars >= 0 && dollars < 1e9) {
		return nil
	}
	n := int64(dollars*1e6 + 0.5)
	return &n
}

// Add adds o. If only one of the two costs is known, the sum is this cost.
func (u *Spending) Add(o Spending) {
	u.Input, u.Cached, u.Output = u.Input+o.Input, u.Cached+o.Cached, u.Output+o.Output
	u.Partial = u.Partial || o.Partial
	if o.Cost == nil {
		return
	}
	cost := *o.Cost
	if u.Cost != nil {
		cost += *u.Cost
	}
	u.Cost = &cost
}

// Minus returns u without the earlier spending o. A negative difference counts as 0, because a tool
// might restart its count.
func (u Spending) Minus(o Spending) Spending {
	d := Spending{
		Partial: u.Partial,
		Input:   max(0, u.Input-o.Input),
		Cached:  max(0, u.Cached-o.Cached),
		Output:  max(0, u.Output-o.Output),
	}
	if u.Cost != nil {
		cost := *u.Cost
		if o.Cost != nil {
			cost = max(0, cost-*o.Cost)
		}
		d.Cost = &cost
	}
	return d
}

// mostSpent bounds each number in the journal; no real attempt reaches it.
const mostSpent = 1e15

// Journaled returns the spending in the journal's form, or nil if u is nil.
func (u *Spending) Journaled() *event.Spending {
	if u == nil {
		return nil
	}
	within := func(n int64) int64 { return min(max(n, 0), mostSpent) }
	spent := &event.Spending{
		Input:   within(u.Input),
		Cached:  within(u.Cached),
		Output:  within(u.Output),
		Partial: u.Partial,
	}
	if u.Cost != nil {
		cost := within(*u.Cost)
		spent.Cost = &cost
	}
	return spent
}
