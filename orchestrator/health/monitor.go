package health

import (
	"fmt"
	"slices"
	"time"

	"kanban-run/orchestrator/agent"
)

// Action is a measure that the watch takes with an agent.
type Action int

// The actions, from the mildest.
const (
	Nothing  Action = iota
	Ask             // ask the agent for a sign
	AskAgain        // ask the agent urgently
	Resume          // continue a program that a signal has stopped
	EndCall         // tell the agent's program to end the call; the agent goes on
	TermCall        // ask the processes of an open command to end, which ends only the call
	KillCall        // kill the processes of an open command
	EndOver         // end a program that runs on after its result; the result counts
	Test            // seed 000's reboot test
)

// endsCall reports whether the action ends a call. Such an action is always reported.
func (a Action) endsCall() bool { return a == EndCall || a == TermCall || a == KillCall }

// String returns words for people, or "" for an action that they are not told of.
func (a Action) String() string {
	switch a {
	case Resume:
		return "it is continued"
	case EndCall:
		return "the call is ended"
	case TermCall:
		return "its command is asked to end"
	case KillCall:
		return "its command is killed"
	case EndOver:
		return "it is ended, and its result counts"
	case Test:
		return "the reboot test"
	default:
		return ""
	}
}

// Usage is the work of an agent's processes since they started.
type Usage struct {
	Own, Calls Work // Own: of the agent and its servers; Calls: of processes in other sessions
	Stopped    bool // the agent is stopped by a signal, and no debugger holds it
}

// Work is the processor time and the input and output of processes.
type Work struct {
	Ticks int64 // processor time in units of 10 ms, including ended children
	Bytes int64 // number of bytes read and written
}

// leastTicks is the least use between two checks that counts as work. A sleeping program uses less.
const leastTicks = 5

// worked reports whether the use since an earlier measurement exceeds that of a sleeping program.
func (w Work) worked(before Work) bool {
	return w.Ticks-before.Ticks >= leastTicks || w.Bytes > before.Bytes
}

// Report is the outcome of a check.
type Report struct {
	Findings []Finding
	Told     []Finding // the findings that are to be reported now
	Action   Action
	On       Finding // the finding that Action is about

	Stage Stage // a newly reached stage; zero if there is none

	Recovered bool // the agent makes progress again after a lack of progress was reported

	Status string    // working, idle or blocked, as in seed 000
	Last   time.Time // the last sign of the agent; before the first sign: its start
	Signs  string    // see [Live.Signs]; "" if the check came too late
}

// Health returns the health of the worst finding in the words of seed 000: critical or warning. It
// returns healthy if there are no findings.
func (r Report) Health() string {
	health := Healthy
	for _, f := range r.Findings {
		if f.Severity == Critical {
			return string(Critical)
		}
		health = string(Warning)
	}
	return health
}

// YAML returns the report as a message about the agent with the given ID: seed 000,
// "health_report".
func (r Report) YAML(now time.Time, id string) []byte {
	counts := map[string]int{r.Health(): 1}
	return fmt.Appendf(nil, `type: health_report
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
`, now.UTC().Format(time.RFC3339), id, r.Status, r.Health(), r.Last.UTC().Format(time.RFC3339),
		counts["healthy"], counts["warning"], counts["critical"])
}

// Monitor watches one running agent. It is not safe for concurrent use.
type Monitor struct {
	policy  Policy
	signals agent.Signals
	from    time.Time // start of the watch; earlier times do not count
	last    time.Time // time of the last check
	usage   *Usage    // usage at the last check; nil if not known
	seen    map[string]int
	acting  map[string]int
	told    map[string]Severity
	warned  []time.Time
	broken  string    // ID of the call that the agent's program was told to end
	asked   string    // ID of the call whose processes were asked to end
	killed  string    // ID of the call whose processes were killed
	worked  time.Time // when the processes were last seen to work
	since   time.Time // time of the last progress
	inquiry inquiry
	alert   bool // a lack of progress was reported and has not ended
	stage   int  // the last reported stage since the last progress
	breach  int  // the stage that the last check has found
}

// Stage is a stage that an agent without progress has reached.
type Stage struct {
	Number int // 1: ping, 2: escalate, 3: another agent is proposed
	For    time.Duration
}

// SetPolicy replaces the policy by which the agent is watched.
func (m *Monitor) SetPolicy(p Policy) { m.policy = p }

// NewMonitor returns a Monitor that watches an agent from now on.
func NewMonitor(now time.Time, p Policy, s agent.Signals) *Monitor {
	return &Monitor{policy: p, signals: s, from: now, last: now}
}

// NeedsUsage reports whether the next check needs the [Usage] of the processes: the agent has no
// result yet, and has made no progress for the time between two checks. Reading the usage is the
// slowest part of a check.
func (m *Monitor) NeedsUsage(now time.Time, t *Trace) bool {
	return t.Finished.IsZero() && now.Sub(t.sinceStart(t.Progress)) >= m.policy.Frequency
}

// Check looks at the agent. u is nil if its processes were not looked at. listens is true if the
// agent takes messages. A check that comes too late begins the watch anew and returns an empty
// Report.
func (m *Monitor) Check(now time.Time, t *Trace, u *Usage, listens bool) Report {
	if m.isLate(now) {
		m.Restart(now)
		return Report{}
	}
	m.last = now
	recovered := false
	if t.Progress.After(m.since) {
		recovered = m.alert
		m.since = t.Progress
		clear(m.told)
		m.stage, m.breach, m.alert = 0, 0, false
	}
	seen := m.evidence(u)
	r := Report{
		Recovered: recovered,
		Status:    status(t, seen),
		Last:      t.sinceStart(t.Activity),
		Findings:  Assess(now, m.from, t, seen, m.signals, m.policy),
	}
	m.inquiry.follow(t)
	for i := range r.Findings {
		f := &r.Findings[i]
		if isSilence(*f) && m.inquiry.isUnanswered(now, m.policy.Answer) {
			f.Severity, f.Deaf = Critical, true
			f.Act = f.Act || t.Waiting() == ForModel && over(f.For, m.policy.DeafTimeout)
			f.Details += ", and it has not answered two questions"
		}
	}
	m.count(r.Findings)
	for _, f := range r.Findings {
		if m.isToTell(now, f) {
			r.Told = append(r.Told, f)
		}
		action := m.actionOn(f, listens)
		mayAsk := listens && isSilence(f) && len(t.Open()) == 0 && m.seen[f.Key()] >= breaches
		if mayAsk && !m.inquiry.isUnanswered(now, m.policy.Answer) && m.policy.Answer > 0 {
			// An agent that still has time to answer is not ended for its silence.
			action = m.inquiry.next(now, m.policy.Answer, action == Test)
		}
		if action > r.Action {
			r.Action, r.On = action, f
		}
	}
	if r.Action.endsCall() && !slices.ContainsFunc(r.Told, func(f Finding) bool { return f.Key() == r.On.Key() }) {
		r.Told = append(r.Told, r.On)
	}
	m.note(now, r)
	isStall := func(f Finding) bool { return f.Check != Errors && f.Check != LeftOver }
	r.Stage = m.nextStage(now, t)
	m.alert = m.alert || r.Stage.Number > 0 || slices.ContainsFunc(r.Told, isStall)
	return r
}

// nextStage returns a new stage that two checks in a row have found, or the zero Stage if there is
// none: seed 002, "Anti-false-positive guards".
func (m *Monitor) nextStage(now time.Time, t *Trace) (s Stage) {
	began := later(t.Progress, m.from)
	if !m.signals.Session && !m.policy.ByClock { // output and working processes are the only signs
		began = later(began, later(t.Activity, m.worked))
	}
	if !t.Finished.IsZero() || now.Sub(t.Started) < m.policy.Grace {
		return s
	}
	n := m.policy.Stages.reached(now.Sub(began))
	if n > m.stage && n == m.breach {
		m.stage = n
		s = Stage{n, now.Sub(began)}
	}
	m.breach = n
	return s
}

// status returns the status of seed 000. An agent that its provider refuses is blocked. An agent is
// idle after its result. It is also idle before its first sign, unless its processes are seen to
// work. Any other agent is working.
func status(t *Trace, e Evidence) string {
	switch {
	case t.Waiting() == ForProvider:
		return "blocked"
	case !t.Finished.IsZero(), t.Activity.IsZero() && !(e.Known && e.Works):
		return "idle"
	default:
		return "working"
	}
}

// isLate reports whether a check comes two periods too late by the monotonic or the wall clock.
// Then the machine slept, or this program was stopped.
func (m *Monitor) isLate(now time.Time) bool {
	late := 3 * m.policy.Frequency
	return now.Sub(m.last) >= late || now.Round(0).Sub(m.last.Round(0)) >= late
}

// Restart begins to watch the agent anew.
func (m *Monitor) Restart(now time.Time) {
	m.from, m.last, m.usage, m.inquiry.asked, m.inquiry.urgent = now, now, nil, time.Time{}, time.Time{}
	clear(m.seen)
	clear(m.acting)
}

func (m *Monitor) evidence(u *Usage) Evidence {
	before := m.usage
	m.usage = u
	if u == nil {
		return Evidence{Works: true} // what cannot be measured counts as work
	}
	// Without an earlier measurement to compare with, the agent counts as working.
	e := Evidence{Known: true, Stopped: u.Stopped, Works: before == nil}
	if before != nil {
		e.Works = u.Calls.worked(before.Calls) || !m.signals.Apart && u.Own.worked(before.Own)
	}
	if e.Works && before != nil {
		m.worked = m.last
	}
	e.Worked = m.worked
	return e
}

// count updates two counts of consecutive checks for each finding. The field "seen" counts the
// checks that made the finding. The field "acting" counts the checks whose finding had Act set.
func (m *Monitor) count(found []Finding) {
	if len(found) == 0 {
		m.seen, m.acting = nil, nil
		return
	}
	seen, acting := map[string]int{}, map[string]int{}
	for _, f := range found {
		seen[f.Key()] = m.seen[f.Key()] + 1
		if f.Act {
			acting[f.Key()] = m.acting[f.Key()] + 1
		}
	}
	m.seen, m.acting = seen, acting
}

// Bounds of the messages about one agent: seed 002, "Anti-false-positive guards".
const (
	breaches   = 2 // checks in a row before a finding is reported or acted on
	cooldown   = 20 * time.Minute
	mostInHour = 2
)

// isToTell reports whether f is to be reported now. If so, it notes that f was reported. A finding
// is reported once, and again if it becomes critical. Only warnings are limited in number and rate.
func (m *Monitor) isToTell(now time.Time, f Finding) bool {
	if m.seen[f.Key()] < breaches && f.Check != Stopped {
		return false
	}
	told := m.told[f.Key()]
	if told == f.Severity || told == Critical {
		return false
	}
	if f.Severity == Warning {
		n := len(m.warned)
		if n > 0 && now.Sub(m.warned[n-1]) < cooldown ||
			n >= mostInHour && now.Sub(m.warned[n-mostInHour]) < time.Hour {
			return false
		}
		m.warned = append(m.warned, now)
	}
	if m.told == nil {
		m.told = map[string]Severity{}
	}
	m.told[f.Key()] = f.Severity
	return true
}

// actionOn returns the action on a finding. If a command does no work, only the command is ended at
// first, not the agent.
func (m *Monitor) actionOn(f Finding, listens bool) Action {
	switch {
	case f.Check == Stopped:
		if m.seen[f.Key()] > breaches {
			return Test // the program was stopped again, or cannot be continued
		}
		return Resume
	case !f.Act || m.acting[f.Key()] < breaches:
		return Nothing
	case f.Check == LeftOver:
		return EndOver
	case f.Check == MCPStuck && listens && m.broken != f.Call.ID:
		return EndCall
	case f.Check == Ceiling && f.Call != nil && m.killed == f.Call.ID:
		return Test
	case f.Check == Ceiling && f.Call != nil && m.asked == f.Call.ID:
		return KillCall
	case f.Check == Ceiling && f.Call != nil:
		return TermCall
	default:
		return Test
	}
}

func (m *Monitor) note(now time.Time, r Report) {
	switch r.Action {
	case Ask, AskAgain:
		m.inquiry.note(now, r.Action)
	case EndCall:
		m.broken = r.On.Call.ID
	case TermCall:
		m.asked = r.On.Call.ID
	case KillCall:
		m.killed = r.On.Call.ID
	}
}
