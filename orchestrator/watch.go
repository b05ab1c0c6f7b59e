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
	run   *run
	call  *call
	agent *attempt.Attempt

	policy  health.Policy
	tuned   bool // the task's own settings are looked at
	monitor *health.Monitor
	ticker  *time.Ticker     // nil: nothing is watched
	C       <-chan time.Time // is nil where nothing is watched, or the agent is to end

	asked time.Time          // since then a person is asked for consent; zero: no question is open
	test  *flow.RebootTested // that the question is about

	judge   *judge       // at work; nil: none is
	judged  chan verdict // of it; nil: none is at work
	verdict *verdict     // by which the next check decides; nil: there is none
	spared  bool         // the agent was left alone once, as a judge said
}

// stop ends the watch. It may be called twice.
func (w *watch) stop() {
	if w.ticker != nil {
		w.ticker.Stop()
	}
	w.C = nil
}

// startWatch watches the agent of a call. If the policy watches nothing, it only passes messages on.
func (r *run) startWatch(c *call, a *attempt.Attempt) *watch {
	w := &watch{run: r, call: c, agent: a}
	p := c.player.Policy(c.duty)
	if w.policy = p; p.Off() || r.DryRun {
		return w
	}
	w.monitor = health.NewMonitor(r.Now(), p, c.player.Adapter.Tool().Signals)
	w.ticker = time.NewTicker(p.Frequency)
	w.C = w.ticker.C
	return w
}

// tune has the task's own settings count, from the first look on: most agents have replied by then, and no file is read for them.
func (w *watch) tune() {
	if w.tuned {
		return
	}
	w.tuned = true
	values := w.run.Workspace.Place.ReadBrief(w.call.Task).Watch
	if len(values) == 0 {
		return
	}
	p, err := w.call.player.PolicyFor(w.call.duty, w.call.Task, values)
	if err != nil {
		w.run.Observer.Notice(w.run.Board, err.Error()+"; it is left out")
		return
	}
	w.policy = p
	w.monitor.SetPolicy(p)
	if p.Off() {
		w.stop()
		return
	}
	w.ticker.Reset(p.Frequency)
}

// check looks at the agent, and does what the monitor says. Each decision is journaled before it is
// acted on.
func (w *watch) check() error {
	if w.tune(); w.C == nil {
		return nil
	}
	report := w.agent.Check(w.run.Now(), w.monitor)
	return errors.Join(w.deliver(), rundir.ReplaceFile(w.run.dir.Health(), report.YAML(w.run.Now(), w.call.Role)),
		w.recordFindings(report), w.recordStage(report.Stage), w.act(report))
}

// recordFindings journals what the check has found and what is to be told now.
func (w *watch) recordFindings(report health.Report) error {
	var errs []error
	if report.Recovered {
		errs = append(errs, w.run.ledger.Record(flow.Recovered{AttemptRef: w.call.AttemptRef, Text: health.Recovery(w.call.Task)}))
	}
	for _, f := range report.Told {
		found := flow.AnomalyFound{AttemptRef: w.call.AttemptRef, Anomaly: health.Describe(f)}
		if found.Tool != "" && w.run.crowd.Note(w.run.Board, found.Key(), w.run.Now()) {
			found.Advice, found.Details = "replan", found.Details+"; an agent of another board has the same"
		}
		if report.On.Key() == f.Key() {
			found.Action = report.Action.String()
		}
		errs = append(errs, w.run.ledger.Record(found))
		if f.Check == health.Errors {
			errs = append(errs, w.offerHelp())
		}
	}
	return errors.Join(errs...)
}

// recordStage journals a stage of an agent without progress.
func (w *watch) recordStage(s health.Stage) error {
	if s.Number == 0 {
		return nil
	}
	b := s.Describe(w.call.Task, w.call.Call.IsReview())
	if w.call.Call.IsReview() {
		return w.run.ledger.Record(flow.ReviewBreach{AttemptRef: w.call.AttemptRef, Overdue: b})
	}
	return w.run.ledger.Record(flow.IdleBreach{AttemptRef: w.call.AttemptRef, Overdue: b})
}

// act does what the monitor says about the agent.
func (w *watch) act(report health.Report) (err error) {
	if !w.asked.IsZero() && report.Last.After(w.asked) {
		w.asked = time.Time{}
		err = w.run.ledger.Record(flow.ConsentGiven{AttemptRef: w.call.AttemptRef, Choice: flow.ConsentVoid})
	}
	if report.Action != health.Test {
		w.verdict = nil
		if w.judge != nil {
			w.judge.void = true
		}
	}
	switch report.Action {
	case health.Ask, health.AskAgain:
		err = errors.Join(err, w.ask(report.On, report.Action == health.AskAgain))
	case health.EndCall:
		w.agent.EndCall(report.On.Call.Tool)
	case health.Resume:
		w.agent.Continue()
	case health.TermCall, health.KillCall:
		w.agent.EndCalls(report.Action == health.KillCall)
	case health.EndOver:
		w.stop()
		w.agent.End(w.policy.Graceful)
	case health.Test:
		err = errors.Join(err, w.makeTest(report.On))
	}
	return err
}

// decide ends a hung agent, as soon as a person has consented where one has to. Without consent in time the run ends.
func (w *watch) decide(e flow.RebootTested) error {
	if !w.policy.Person {
		return w.endHung(e)
	}
	if w.asked.IsZero() {
		w.asked, w.test = w.run.Now(), &e
		err := w.run.ledger.Record(flow.ConsentAsked{AttemptRef: w.call.AttemptRef, Anomaly: e.Anomaly, Decision: e.Decision, Text: e.Why()})
		failpoint.At("consent-asked")
		return err
	}
	if limit := w.policy.Consent; limit == 0 || w.run.Now().Sub(w.asked) < limit {
		return nil
	}
	e.Decision, e.Text = flow.Stuck, fmt.Sprintf("%s, and no person has consented to end it within %s", e.Details, w.policy.Consent)
	return w.endHung(e)
}

func (w *watch) endHung(e flow.RebootTested) error {
	w.stop()
	err := w.run.ledger.Record(e)
	failpoint.At("hung-decided")
	w.agent.End(w.policy.Graceful)
	return err
}

// answerConsent does what a person has decided about the agent.
func (w *watch) answerConsent(m inbox.Message) error {
	choice := flow.ConsentChoice(m.Choice)
	if w.asked.IsZero() || choice != flow.ConsentRestart && choice != flow.ConsentContinue {
		return w.run.ledger.Record(flow.MessageLost{AttemptRef: w.call.AttemptRef, ID: m.ID, Reason: "no such decision about this agent waits"})
	}
	w.asked = time.Time{}
	err := w.run.ledger.Record(flow.ConsentGiven{AttemptRef: w.call.AttemptRef, ID: m.ID, Choice: choice})
	if choice == flow.ConsentContinue {
		w.monitor.Restart(w.run.Now())
		return err
	}
	e := *w.test
	if e.Decision == flow.Stuck { // a person knows better
		e.Decision, e.Text = flow.Restart, "The watch ended your program: "+e.Details+"."
	}
	return errors.Join(err, w.endHung(e))
}

// reboot is the reboot test of a hung agent.
func (w *watch) reboot(f health.Finding) flow.RebootTested {
	step := w.run.ledger.State().Step
	brief := w.run.Workspace.Place.ReadBrief(w.call.Task)
	if w.call.Call != flow.TaskCall {
		brief.Expected = 0 // it is about the work on the task
	}
	c := health.Case{Task: w.call.Task, HasText: brief.HasText, Missing: brief.Missing, Obstacle: w.agent.Obstacle(),
		Expected: brief.Expected, Took: w.agent.Took(), Replans: w.call.Call == flow.TaskCall && w.replans(),
		Replanned: w.run.ledger.State().ReplannedTimes(w.call.Task), Restarts: step.Restarts, MaxRestarts: w.policy.MaxRestarts, LastHung: step.LastHung}
	if w.verdict != nil {
		c.Judged, c.Advice = w.verdict.answers, w.verdict.advice
	}
	e := health.Reboot(f, c)
	e.AttemptRef = w.call.AttemptRef
	return e
}

// replans says whether the Manager can be asked for another plan.
func (w *watch) replans() bool {
	p, err := w.run.Player(flow.ManagerRole)
	return err == nil && p.Role.Anomalies
}
