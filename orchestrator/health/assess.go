package health

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
)

// Check is a row of seed 000's check table, "检查项目".
type Check string

// The rows.
const (
	ProgressStale Check = "progress stale"
	Idle          Check = "idle"
	Errors        Check = "errors"
	MCPStuck      Check = "MCP stuck"
	NoFirstSign   Check = "no first sign"
	Stopped       Check = "stopped"
	LeftOver      Check = "left over"
	Ceiling       Check = "ceiling"
	Late          Check = "late"          // Q4 of the reboot test, for an agent that is not hung
	AsksForHelp   Check = "asks for help" // seed 000, "ASSIST"
)

// Anomaly returns the type with which the check is reported: seed 000, "anomaly_type".
func (c Check) Anomaly() string {
	switch c {
	case Errors, AsksForHelp:
		return "error"
	case MCPStuck:
		return "mcp_stuck"
	case Ceiling, LeftOver, Late:
		return "timeout"
	default:
		return "idle"
	}
}

// Healthy is seed 000's word for an agent without findings.
const Healthy = "healthy"

// Severity is the severity of a finding in seed 000.
type Severity string

// The severities.
const (
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Finding is a fault that one check found.
type Finding struct {
	Check    Check
	Severity Severity
	For      time.Duration
	Details  string // the evidence in words
	Act      bool   // the last limit of the check is reached, so the watch is allowed to act
	Deaf     bool   // the agent was asked twice, and has not answered
	Call     *Call  // the call that the finding is about, or nil
}

// Key returns the check and the tool. Findings with the same key count as the same.
func (f Finding) Key() string {
	if f.Call == nil {
		return string(f.Check)
	}
	return string(f.Check) + " " + f.Call.Tool
}

// Evidence is the state of an agent's processes, as the operating system reports it.
type Evidence struct {
	Known   bool      // the processes could be looked at
	Works   bool      // they have worked since the last check, or this is not known
	Worked  time.Time // when they were last seen to work; zero if never
	Stopped bool      // the agent is stopped by a signal, and no debugger holds it
}

// Assess returns the present faults of an agent. The parameter from is the time when the watch
// began, or when the machine woke from sleep. Earlier times do not count.
func Assess(now, from time.Time, t *Trace, e Evidence, s agent.Signals, p Policy) []Finding {
	a := assessment{now: now, from: from, Trace: t, evidence: e, signals: s, policy: p}
	if !t.Finished.IsZero() {
		a.checkLeftOver()
		return a.findings
	}
	a.checkStopped()
	a.checkFirstSign()
	a.checkMCP()
	if a.since(t.Started) >= p.Grace {
		a.checkErrors()
		a.checkIdle()
		a.checkStale()
	}
	a.checkCeiling()
	return a.findings
}

type assessment struct {
	*Trace
	now, from time.Time
	evidence  Evidence
	signals   agent.Signals
	policy    Policy
	findings  []Finding
}

// since returns the time that has passed since a given time. If the watch started after the given
// time, the result is the time that has passed since the start of the watch.
func (a *assessment) since(at time.Time) time.Duration {
	if at.Before(a.from) {
		at = a.from
	}
	return a.now.Sub(at)
}

// over reports whether a limit is set and reached.
func over(d, limit time.Duration) bool { return limit > 0 && d >= limit }

func (a *assessment) add(f Finding) { a.findings = append(a.findings, f) }

// last returns the time of a sign, or of the agent's start if that is later.
func (a *assessment) last(sign time.Time) time.Time {
	if sign.Before(a.Started) {
		return a.Started
	}
	return sign
}

func (a *assessment) checkLeftOver() {
	if d := a.since(a.last(a.Activity)); over(d, a.policy.LeftOver) {
		a.add(Finding{Check: LeftOver, Severity: Critical, For: d, Act: true,
			Details: fmt.Sprintf("its program is there %s after its result", brief(d))})
	}
}

func (a *assessment) checkStopped() {
	if a.evidence.Known && a.evidence.Stopped {
		a.add(Finding{Check: Stopped, Severity: Critical, Act: true, Details: "its program is stopped by a signal"})
	}
}

func (a *assessment) checkFirstSign() {
	if d := a.since(a.Started); a.signals.Session && a.Activity.IsZero() && over(d, a.policy.FirstSign) {
		a.add(Finding{Check: NoFirstSign, Severity: Critical, For: d, Act: true,
			Details: fmt.Sprintf("no sign of it for %s from its start", brief(d))})
	}
}

func (a *assessment) checkMCP() {
	for _, c := range a.Open() {
		d := a.since(c.Since)
		p := a.policy
		if c.Class != agent.MCPTool || !over(d, p.MCPDefault) && !over(d, p.MCPMax) && !over(d, p.MCPEnd) {
			continue
		}
		f := Finding{Check: MCPStuck, Severity: Warning, For: d, Call: &c,
			Details: fmt.Sprintf("its call of %s has not answered for %s", c.Tool, brief(d))}
		// As long as other calls of the agent end, the agent does not hang in this call.
		f.Act = over(min(d, a.since(a.last(a.Progress))), p.MCPEnd)
		if over(d, p.MCPMax) || f.Act {
			f.Severity = Critical
		}
		a.add(f)
	}
}

func (a *assessment) checkErrors() {
	if a.policy.Errors > 0 && a.Failures >= a.policy.Errors {
		a.add(Finding{Check: Errors, Severity: Warning, For: a.since(a.last(a.Progress)),
			Details: fmt.Sprintf("%d errors in a row; the last: %s", a.Failures, agent.OneLine(a.Failed.String()))})
	}
}

// checkIdle finds silence. While a call is open it only warns, because builds run for minutes
// without a line of output.
func (a *assessment) checkIdle() {
	if a.signals.Session && a.Activity.IsZero() {
		return // checkFirstSign judges the time before the first sign
	}
	quiet := a.since(a.last(a.orWorked(a.Activity)))
	f := Finding{Check: Idle, Severity: Warning, For: quiet}
	warning, timeout, what := a.policy.IdleWarning, a.policy.IdleTimeout, "no sign of it for"
	switch a.Waiting() {
	case ForTools:
		timeout, what = 0, "silent with "+calls(a.Open())+" for"
	case ForModel, ForProvider:
		warning, timeout, what = a.policy.ModelWarning, a.policy.ModelTimeout, "its model has not answered for"
	default:
		if !a.mayEnd() {
			timeout = 0
		}
	}
	if !over(quiet, warning) && !over(quiet, timeout) {
		return
	}
	f.Details = what + " " + brief(quiet)
	if over(quiet, timeout) {
		f.Severity, f.Act = Critical, true
	}
	a.add(f)
}

// orWorked returns the time of a sign. For an agent that does not report its work, it returns the
// later one of this time and the time when the agent's processes were last seen to work.
func (a *assessment) orWorked(sign time.Time) time.Time {
	if a.signals.Session {
		return sign
	}
	return later(sign, a.evidence.Worked)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// mayEnd reports whether the watch is allowed to end a silent agent. It is allowed if the agent's
// program reports its work, or if the policy has SilentAgents. Any other program might just be
// waiting for the network.
func (a *assessment) mayEnd() bool { return a.signals.Session || a.policy.SilentAgents }

// checkStale finds an agent that is active without progress. An open call counts as progress.
func (a *assessment) checkStale() {
	d := a.since(a.last(a.Progress))
	active := a.since(a.last(a.Activity)) < a.policy.ProgressStale
	if a.signals.Session && active && len(a.Open()) == 0 && over(d, a.policy.ProgressStale) {
		a.add(Finding{Check: ProgressStale, Severity: Warning, For: d,
			Details: fmt.Sprintf("it is active, and without progress for %s", brief(d))})
	}
}

// checkCeiling finds a lack of progress. It finds no fault if one of the agent's commands does
// work, or if the agent's program works without reporting its work. Such an agent can go on until
// the timeout of its attempt.
func (a *assessment) checkCeiling() {
	d := a.since(a.last(a.orWorked(a.Progress)))
	if !over(d, a.policy.Ceiling) || !a.mayEnd() {
		return
	}
	f := Finding{Check: Ceiling, Severity: Critical, For: d, Act: true,
		Details: fmt.Sprintf("no progress for %s", brief(d))}
	for _, c := range a.Open() {
		if c.Class != agent.ShellTool {
			continue
		}
		if a.evidence.Works {
			return
		}
		f.Call = &c
		f.Details += fmt.Sprintf("; its command %q does no work", agent.OneLine(c.Text))
	}
	if !a.signals.Session && a.evidence.Works {
		return
	}
	a.add(f)
}

func calls(open []Call) string {
	var names []string
	for _, c := range open {
		names = append(names, c.Tool)
	}
	return strings.Join(names, ", ") + " open"
}

// brief renders a duration: 800ms, 2.5s, 40s, 2m, 1h5m.
func brief(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
