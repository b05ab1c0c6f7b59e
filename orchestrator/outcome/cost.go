package outcome

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/event"
)

// charge accounts for an attempt and returns what it alone came to, nil where that is not known.
func (r *Recorder) charge(c *call.Ready, out *attempt.Outcome, took time.Duration) *event.Spending {
	spent := r.accountsOf(c.Call).Charge(out, c.From).Journaled()
	if c.Player.Adapter.Tool().Free {
		spent = &event.Spending{Free: true}
	}
	r.run.Used.Add(took.Milliseconds(), spent)
	if !out.Stopped && !spent.IsPriced() {
		r.warnOfCost(c)
	}
	return spent
}

// warnOfCost warns once that a limit of cost cannot hold an agent whose tool tells no cost.
func (r *Recorder) warnOfCost(c *call.Ready) {
	limits := r.run.Limits.OfCost()
	if len(limits) == 0 || r.warned || r.run.DryRun {
		return
	}
	r.warned = true
	r.run.Observer.Notice(r.run.Board, fmt.Sprintf("%s cannot hold: %s (%s) told no cost of attempt %d in step %d; an unknown cost is not counted",
		strings.Join(limits, " and "), c.Role, c.Player.Adapter.Name(), c.Attempt, c.Step))
}

// WarnOfLimits says once of each limit that it is nearly used.
func (r *Recorder) WarnOfLimits() {
	for _, text := range r.run.State().NearLimits() {
		if !slices.Contains(r.near, text) {
			r.near = append(r.near, text)
			r.run.Observer.Notice(r.run.Board, text)
		}
	}
}

// accountsOf are those of the sessions in which a call may go on.
func (r *Recorder) accountsOf(c event.Call) attempt.Accounts {
	if c.IsSupervision() {
		return r.watched
	}
	return r.accounts
}

// Restore adds what earlier runs journaled of the open step's sessions, and of the supervisor's.
// Without it a tool that counts by the session would be charged for them again.
func (r *Recorder) Restore(e event.Event) {
	if _, ok := e.(event.StepStarted); ok {
		r.BeginStep(time.Time{})
	}
	end, ok := event.EndOf(e)
	if !ok || end.Call.IsReview() || end.Session == "" || end.Spent == nil {
		return
	}
	accounts := r.accountsOf(end.Call)
	sum := accounts[end.Session]
	sum.Add(agent.Spending{Input: end.Spent.Input, Cached: end.Spent.Cached, Output: end.Spent.Output, Cost: end.Spent.Cost})
	accounts[end.Session] = sum
}
