package orchestrator

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/flow"
)

// charge is what an attempt alone came to, nil where nobody knows, for its event. It is asked once for each attempt.
func (r *run) charge(a *attempt) *flow.Spending {
	if r.accounts == nil {
		r.accounts = agent.Accounts{}
	}
	spent := spendingOf(r.accounts.Charge(a.out, ""))
	r.used.Add(a.took.Milliseconds(), spent)
	if !a.out.Stopped && (spent == nil || spent.Cost == nil || spent.Partial) {
		r.warnOfCost(a)
	}
	return spent
}

// recall makes what an earlier run has journaled of the open step's sessions part of the accounts: a tool that counts by the session
// would charge it again.
func (r *run) recall(e flow.Event) {
	var session string
	var spent *flow.Spending
	switch e := e.(type) {
	case flow.StepStarted:
		r.accounts = nil // no session outlives its step
	case flow.ReplyAccepted:
		session, spent = e.Session, e.Spent
	case flow.ReplyRejected:
		session, spent = e.Session, e.Spent
	case flow.AttemptStopped:
		session, spent = e.Session, e.Spent
	}
	if session == "" || spent == nil {
		return
	}
	if r.accounts == nil {
		r.accounts = agent.Accounts{}
	}
	sum := r.accounts[session]
	sum.Add(agent.Spending{Input: spent.Input, Cached: spent.Cached, Output: spent.Output, Cost: spent.Cost})
	r.accounts[session] = sum
}

// warnOfCost says once that a limit of cost holds nobody who does not tell a cost: that must not look like one that is kept.
func (r *run) warnOfCost(a *attempt) {
	limits := r.setup.Limits.OfCost()
	if len(limits) == 0 || r.warned || r.job.DryRun {
		return
	}
	r.warned = true
	r.job.Observer.Notice(r.job.Board, fmt.Sprintf("%s cannot hold: %s (%s) told no cost of attempt %d in step %d; what nobody tells is not counted",
		strings.Join(limits, " and "), a.player.Role.Name, a.player.Adapter.Name(), a.Attempt, a.Step))
}

// mostSpent is more than any attempt can come to: a tool that tells of more has lost count.
const mostSpent = 1e15

func spendingOf(s *agent.Spending) *flow.Spending {
	if s == nil {
		return nil
	}
	within := func(n int64) int64 { return min(max(n, 0), mostSpent) }
	spent := &flow.Spending{Input: within(s.Input), Cached: within(s.Cached), Output: within(s.Output), Partial: s.Partial}
	if s.Cost != nil {
		cost := within(*s.Cost)
		spent.Cost = &cost
	}
	return spent
}

// until is when the provider wants to be asked again, "" where it does not say or was not what ended the run.
func until(o flow.Outcome, err error) string {
	var later *agent.LaterError
	if o != flow.Later || !errors.As(err, &later) || later.Reset.IsZero() {
		return ""
	}
	return later.Reset.UTC().Format(time.RFC3339)
}
