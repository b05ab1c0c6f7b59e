package orchestrator

import (
	"errors"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/rundir"
)

// watch looks at one running agent in regular intervals: seed 000, "检查流程".
type watch struct {
	monitor *health.Monitor
	ticker  *time.Ticker     // nil: nothing is watched
	C       <-chan time.Time // is nil where nothing is watched, or the agent is to end
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
	if r.Watch.Off() || r.DryRun {
		return &watch{}
	}
	ticker := time.NewTicker(max(r.Watch.Frequency, time.Millisecond))
	return &watch{health.NewMonitor(r.Now(), r.Watch, c.player.Adapter.Tool().Signals), ticker, ticker.C}
}

// checkAgent looks at the agent, and does what the monitor says. Each decision is journaled before
// it is acted on.
func (r *run) checkAgent(c *call, a *attempt.Attempt, w *watch) error {
	report := a.Check(r.Now(), w.monitor)
	errs := []error{rundir.ReplaceFile(r.dir.Health(), report.YAML(r.Now(), c.Role))}
	for _, f := range report.Told {
		found := flow.AnomalyFound{AttemptRef: c.AttemptRef, Anomaly: health.Describe(f)}
		if report.Action != health.Nothing && report.On.Key() == f.Key() {
			found.Action = report.Action.String()
		}
		errs = append(errs, r.ledger.Record(found))
	}
	switch report.Action {
	case health.Resume:
		a.Continue()
	case health.TermCall, health.KillCall:
		a.EndCalls(report.Action == health.KillCall)
	case health.EndOver:
		w.stop()
		a.End()
	case health.Test:
		w.stop()
		errs = append(errs, r.ledger.Record(r.reboot(c, a, report.On)))
		failpoint.At("hung-decided")
		a.End()
	}
	return errors.Join(errs...)
}

// reboot is the reboot test of a hung agent.
func (r *run) reboot(c *call, a *attempt.Attempt, f health.Finding) flow.RebootTested {
	step := r.ledger.State().Step
	e := health.Reboot(f, health.Case{Task: c.Task, HasText: r.Workspace.Place.HasText(c.Task), Obstacle: a.Obstacle(),
		Restarts: step.Restarts, MaxRestarts: r.Watch.MaxRestarts, LastHung: step.LastHung})
	e.AttemptRef = c.AttemptRef
	return e
}
