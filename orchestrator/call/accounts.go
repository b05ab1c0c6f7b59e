package call

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
)

// measure closes the streams of an attempt that has ended and accounts for its time and cost.
func (c *Caller) measure(a *Attempt, e *attempt.Ended) {
	took := c.Now().Sub(a.began) - e.Paused
	c.paused += e.Paused
	if e.Cut == attempt.ByTime {
		took = max(took, firstLimit(a.Spec.Limits, a.began, e.Frozen)) // the run's clock may show less
	}
	a.millis, a.frozen = event.Millis(took), e.Frozen.Milliseconds()
	a.spent, a.streamErr = c.charge(a, e), c.close(a)
	if c.unwritten = nil; a.streamErr != nil {
		c.unwritten = a
	}
}

// firstLimit returns the time from the start of an attempt to the first of its limits of time.
func firstLimit(l attempt.TimeLimits, began time.Time, frozen time.Duration) time.Duration {
	first := l.Run
	if ofTask := l.Task + frozen; l.Task > 0 && (first == 0 || ofTask < first) {
		first = ofTask
	}
	if !l.Until.IsZero() {
		first = min(cmp.Or(first, math.MaxInt64), l.Until.Sub(began))
	}
	return first
}

// charge adds the use of an attempt to the accounts. It returns the use of this attempt alone, or
// nil if that use is not known.
func (c *Caller) charge(a *Attempt, e *attempt.Ended) *event.Spending {
	spent := c.accountsOf(a.Intent.Call).Charge(e, a.Intent.From).Journaled()
	if a.Player.Adapter.Tool().Free {
		spent = &event.Spending{Free: true}
	}
	c.Used.Add(a.millis, spent)
	if !e.IsStopped() && !spent.IsPriced() {
		c.warnOfCost(a, spent != nil && spent.Cost != nil)
	}
	return spent
}

// warnOfCost warns once that a limit of cost does not bound an agent whose tool does not report its
// cost. isKnown is true if it reports a part of the cost.
func (c *Caller) warnOfCost(a *Attempt, isKnown bool) {
	limits := c.Journal.State().Limits.OfCost()
	if c.TotalCost {
		limits = append(limits, "max_cost_total")
	}
	if len(limits) == 0 || c.warned || c.Run.DryRun {
		return
	}
	c.warned = true
	r, told := a.Ref(), "no"
	if isKnown {
		told = "only a part of the"
	}
	c.Observer.Notice(c.Board,
		fmt.Sprintf("%s cannot hold: %s (%s) told %s cost of attempt %d in step %d; an unknown cost is not counted",
			strings.Join(limits, " and "), r.Role, a.Player.Adapter.Name(), told, r.Attempt, r.Step))
}

// WarnOfLimits gives one warning about each limit that is nearly used up.
func (c *Caller) WarnOfLimits() {
	for _, text := range c.Journal.State().NearLimits() {
		if !slices.Contains(c.near, text) {
			c.near = append(c.near, text)
			c.Observer.Notice(c.Board, text)
		}
	}
}

// accountsOf returns the accounts to which a call is charged: the supervisor's, or those of the
// open step.
func (c *Caller) accountsOf(call event.Call) attempt.Accounts {
	if call.IsSupervision() {
		return c.watched
	}
	return c.accounts
}

// Restore adds the costs that earlier runs journaled for the sessions of the open step and of the
// supervisor. Some tools report the cost of a whole session. Without Restore, the costs of earlier attempts would be charged twice.
func (c *Caller) Restore(e event.Event) {
	switch e.(type) {
	case event.StepStarted, event.StepFinished:
		c.BeginStep(time.Time{})
	}
	end, ok := event.EndOf(e)
	if !ok || end.Call.IsReview() || end.Session == "" {
		return
	}
	accounts := c.accountsOf(end.Call)
	sum := accounts[end.Session]
	if s := end.Spent; s != nil {
		sum.Add(agent.Spending{Input: s.Input, Cached: s.Cached, Output: s.Output, Cost: s.Cost})
	}
	accounts[end.Session] = sum
}
