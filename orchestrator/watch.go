package orchestrator

import (
	"errors"
	"fmt"
	"strings"
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
	tick    *time.Ticker
	over    bool // the agent is to end
}

// startWatch watches the agent of a call, unless the policy watches nothing.
func (r *run) startWatch(c *call) *watch {
	w := &watch{tick: time.NewTicker(max(r.Watch.Frequency, time.Millisecond))}
	if r.Watch.Off() || r.DryRun {
		w.tick.Stop()
		return w
	}
	w.monitor = health.NewMonitor(r.Now(), r.Watch, c.player.Adapter.Tool().Signals)
	return w
}

// checkAgent looks at the agent, and does what the monitor says. Each decision is journaled before
// it is acted on.
func (r *run) checkAgent(c *call, a *attempt.Attempt, w *watch) error {
	report := a.Check(r.Now(), w.monitor)
	errs := []error{r.writeHealth(c, report)}
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
		w.over = true
		a.End()
	case health.Test:
		w.over = true
		errs = append(errs, r.ledger.Record(r.reboot(c, a, report.On)))
		failpoint.At("hung-decided")
		a.End()
	}
	return errors.Join(errs...)
}

// reboot is the reboot test of a hung agent.
func (r *run) reboot(c *call, a *attempt.Attempt, f health.Finding) flow.RebootTested {
	step := r.ledger.State().Step
	e := health.Reboot(f, health.Case{Task: c.Task, HasText: r.hasText(c.Task), Obstacle: a.Obstacle(),
		Restarts: step.Restarts, MaxRestarts: r.Watch.MaxRestarts, LastHung: step.LastHung})
	e.AttemptRef = c.AttemptRef
	return e
}

// hasText says whether a task's file has a line beyond its frontmatter.
func (r *run) hasText(task string) bool {
	text, err := r.Workspace.Place.ReadText(task)
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if header, found := strings.CutPrefix(text, "---\n"); found {
		_, text, _ = strings.Cut(header, "\n---")
	}
	return err == nil && strings.Trim(text, "- \t\r\n") != ""
}

// writeHealth replaces health.yaml by the report of this check: seed 000, "health_report".
func (r *run) writeHealth(c *call, report health.Report) error {
	counts := map[string]int{report.Health(): 1}
	text := fmt.Sprintf(`type: health_report
content:
  timestamp: %s
  members:
    - id: %q
      status: %s
      health: %s
      last_update: %s
  summary:
    total: 1
    healthy: %d
    warning: %d
    critical: %d
`, r.Now().UTC().Format(time.RFC3339), c.Role, report.Status, report.Health(), report.Last.UTC().Format(time.RFC3339),
		counts["healthy"], counts["warning"], counts["critical"])
	return rundir.ReplaceFile(r.dir.Health(), []byte(text))
}
