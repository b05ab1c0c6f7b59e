package orchestrator

import (
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/rundir"
)

// watch looks at one running agent in regular intervals: seed 000, "检查流程".
type watch struct {
	policy  health.Policy
	tuned   bool // the task's own settings are looked at
	monitor *health.Monitor
	ticker  *time.Ticker     // nil: nothing is watched
	C       <-chan time.Time // is nil where nothing is watched, or the agent is to end

	asked time.Time          // since then a person is asked for consent; zero: no question is open
	test  *flow.RebootTested // that the question is about
}

// stop ends the watch. It may be called twice.
func (w *watch) stop() {
	if w.ticker != nil {
		w.ticker.Stop()
	}
	w.C = nil
}

// startWatch watches the agent of a call, unless the policy watches nothing.
func (r *run) startWatch(c *call) *watch {
	p := c.player.Policy(c.reviewing)
	if c.Call.IsReview() {
		p = c.player.ReviewPolicy()
	}
	if p.Off() || r.DryRun {
		return &watch{}
	}
	ticker := time.NewTicker(max(p.Frequency, time.Millisecond))
	return &watch{policy: p, monitor: health.NewMonitor(r.Now(), p, c.player.Adapter.Tool().Signals), ticker: ticker, C: ticker.C}
}

// tune has the task's own settings count, from the first look on: most agents have replied by then, and no file is read for them.
func (r *run) tune(c *call, w *watch) {
	if w.tuned {
		return
	}
	w.tuned = true
	values := r.Workspace.Place.ReadBrief(c.Task).Watch
	if len(values) == 0 {
		return
	}
	p, err := c.player.PolicyFor(c.reviewing, c.Task, values)
	if err != nil {
		r.Observer.Notice(r.Board, err.Error()+"; it is left out")
		return
	}
	w.policy = p
	w.monitor.SetPolicy(p)
	if p.Off() {
		w.stop()
		return
	}
	w.ticker.Reset(max(p.Frequency, time.Millisecond))
}

// checkAgent looks at the agent, and does what the monitor says. Each decision is journaled before
// it is acted on.
func (r *run) checkAgent(c *call, a *attempt.Attempt, w *watch) error {
	if r.tune(c, w); w.C == nil {
		return nil
	}
	report := a.Check(r.Now(), w.monitor)
	return errors.Join(r.deliver(c, a, w), rundir.ReplaceFile(r.dir.Health(), report.YAML(r.Now(), c.Role)),
		r.recordFindings(c, a, report), r.recordStage(c, report.Stage), r.act(c, a, w, report))
}

// recordFindings journals what the check has found and what is to be told now.
func (r *run) recordFindings(c *call, a *attempt.Attempt, report health.Report) error {
	var errs []error
	if report.Recovered {
		errs = append(errs, r.ledger.Record(flow.Recovered{AttemptRef: c.AttemptRef, Text: health.Recovery(c.Task)}))
	}
	for _, f := range report.Told {
		found := flow.AnomalyFound{AttemptRef: c.AttemptRef, Anomaly: health.Describe(f)}
		if report.On.Key() == f.Key() {
			found.Action = report.Action.String()
		}
		errs = append(errs, r.ledger.Record(found))
		if f.Check == health.Errors {
			errs = append(errs, r.offerHelp(c, a))
		}
	}
	return errors.Join(errs...)
}

// recordStage journals a stage of an agent without progress.
func (r *run) recordStage(c *call, s health.Stage) error {
	if s.Number == 0 {
		return nil
	}
	b := s.Describe(c.Task, c.Call.IsReview())
	if c.Call.IsReview() {
		return r.ledger.Record(flow.ReviewBreach{AttemptRef: c.AttemptRef, Overdue: b})
	}
	return r.ledger.Record(flow.IdleBreach{AttemptRef: c.AttemptRef, Overdue: b})
}

// act does what the monitor says about the agent.
func (r *run) act(c *call, a *attempt.Attempt, w *watch, report health.Report) (err error) {
	if !w.asked.IsZero() && report.Last.After(w.asked) {
		w.asked = time.Time{}
		err = r.ledger.Record(flow.ConsentGiven{AttemptRef: c.AttemptRef, Choice: flow.ConsentVoid})
	}
	switch report.Action {
	case health.Ask, health.AskAgain:
		return r.ask(c, a, report.On, report.Action == health.AskAgain)
	case health.EndCall:
		a.EndCall(report.On.Call.Tool)
	case health.Resume:
		a.Continue()
	case health.TermCall, health.KillCall:
		a.EndCalls(report.Action == health.KillCall)
	case health.EndOver:
		w.stop()
		a.End(w.policy.Graceful)
	case health.Test:
		return r.decide(c, a, w, r.reboot(c, a, w, report.On))
	}
	return err
}

// decide ends a hung agent, as soon as a person has consented where one has to. Without consent in time the run ends.
func (r *run) decide(c *call, a *attempt.Attempt, w *watch, e flow.RebootTested) error {
	if !w.policy.Person {
		return r.endHung(a, w, e)
	}
	if w.asked.IsZero() {
		w.asked, w.test = r.Now(), &e
		err := r.ledger.Record(flow.ConsentAsked{AttemptRef: c.AttemptRef, Anomaly: e.Anomaly, Decision: e.Decision, Text: e.Why()})
		failpoint.At("consent-asked")
		return err
	}
	if limit := w.policy.Consent; limit == 0 || r.Now().Sub(w.asked) < limit {
		return nil
	}
	e.Decision, e.Text = flow.Stuck, fmt.Sprintf("%s, and no person has consented to end it within %s", e.Details, w.policy.Consent)
	return r.endHung(a, w, e)
}

func (r *run) endHung(a *attempt.Attempt, w *watch, e flow.RebootTested) error {
	w.stop()
	err := r.ledger.Record(e)
	failpoint.At("hung-decided")
	a.End(w.policy.Graceful)
	return err
}

// answerConsent does what a person has decided about the agent.
func (r *run) answerConsent(c *call, a *attempt.Attempt, w *watch, m inbox.Message) error {
	choice := flow.ConsentChoice(m.Choice)
	if w.asked.IsZero() || choice != flow.ConsentRestart && choice != flow.ConsentContinue {
		return r.ledger.Record(flow.MessageLost{AttemptRef: c.AttemptRef, ID: m.ID, Reason: "no such decision about this agent waits"})
	}
	w.asked = time.Time{}
	err := r.ledger.Record(flow.ConsentGiven{AttemptRef: c.AttemptRef, ID: m.ID, Choice: choice})
	if choice == flow.ConsentContinue {
		w.monitor.Restart(r.Now())
		return err
	}
	e := *w.test
	if e.Decision == flow.Stuck { // a person knows better
		e.Decision, e.Text = flow.Restart, "The watch ended your program: "+e.Details+"."
	}
	return errors.Join(err, r.endHung(a, w, e))
}

// reboot is the reboot test of a hung agent.
func (r *run) reboot(c *call, a *attempt.Attempt, w *watch, f health.Finding) flow.RebootTested {
	step := r.ledger.State().Step
	brief := r.Workspace.Place.ReadBrief(c.Task)
	if c.Call != flow.TaskCall {
		brief.Expected = 0 // it is about the work on the task
	}
	e := health.Reboot(f, health.Case{Task: c.Task, HasText: brief.HasText, Missing: brief.Missing, Obstacle: a.Obstacle(),
		Expected: brief.Expected, Took: a.Took(), Replans: c.Call == flow.TaskCall && r.replans(),
		Replanned: r.ledger.State().ReplannedTimes(c.Task), Restarts: step.Restarts, MaxRestarts: w.policy.MaxRestarts, LastHung: step.LastHung})
	e.AttemptRef = c.AttemptRef
	return e
}

// replans says whether the Manager can be asked for another plan.
func (r *run) replans() bool {
	p, err := r.Player(flow.ManagerRole)
	return err == nil && p.Role.Anomalies
}
