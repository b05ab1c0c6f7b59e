package health

import (
	"fmt"
	"slices"
	"time"

	"kanban-run/orchestrator/agent"
)

// Trace is the visible work of a running agent so far. It is not safe for concurrent use.
type Trace struct {
	Started  time.Time
	Activity time.Time // the last sign of any kind; zero before the first
	Progress time.Time // the last sign that the work goes on; zero before the first
	Finished time.Time // the final event; zero before it
	Answered time.Time // the last answer to a question; zero before it
	Worked   bool      // the model wrote something, or called a tool

	Failures int         // failed calls of tools, or provider retries, in a row
	Failed   agent.Event // the last failed call or retry
	Last     agent.Event // the last event that is of interest to people

	session bool      // the agent has named its session, so a model is at work
	quiet   time.Time // value of Activity before the last call of Print
	calls   []call
	same    repeat
	tools   tools
}

// call is a call of a tool, open or not.
type call struct {
	Call
	sum   uint32
	ended time.Time // zero while the call is open
}

// Call is an open call of a tool.
type Call struct {
	ID    string
	Tool  string
	Class agent.ToolClass
	Text  string // what the call is about
	Since time.Time
}

// repeat is a call that an agent makes again and again, with the same result.
type repeat struct {
	tool          string
	input, result uint32
	times         int
}

const (
	// maxCalls is the greatest number of calls that are remembered. A bound is needed because some
	// agents never end their calls.
	maxCalls = 64
	// sameCall is a number of equal results of the same call in a row. From this number on, the
	// results count as errors.
	sameCall = 5
	// sameFault is a number of failures in a row. A call that has failed so often is an obstacle.
	sameFault = 3
)

// NewTrace returns the trace of an agent that has given no sign yet.
func NewTrace(started time.Time) *Trace { return &Trace{Started: started} }

// sinceStart returns the given time, or the time of the agent's start if the agent started later.
// The given time may be the zero time.
func (t *Trace) sinceStart(at time.Time) time.Time {
	if at.Before(t.Started) {
		return t.Started
	}
	return at
}

// Print records the time of output that is not part of an event.
func (t *Trace) Print(at time.Time) { t.quiet, t.Activity = t.Activity, at }

// Note notes an event.
func (t *Trace) Note(e agent.Event) {
	if e.Kind == agent.Echo || e.Kind == agent.Dropped {
		t.Activity = t.quiet // a program repeats its input even while the agent hangs
		return
	}
	t.Activity, t.quiet = e.Time, e.Time
	t.fold(e)
	if e.IsProgress() && !t.loops(e) {
		t.Progress = e.Time
	}
}

// loops reports whether an event is a part of a loop: the agent makes the same call again and
// again, and gets the same result. A text in between is a part of the loop. Another call or another
// result ends the loop.
func (t *Trace) loops(e agent.Event) bool {
	switch {
	case t.same.times < sameCall:
		return false
	case e.Kind == agent.ToolStarted:
		return e.Tool == t.same.tool && e.Sum == t.same.input
	default:
		return e.Kind != agent.Result && e.Kind != agent.Unread
	}
}

func (t *Trace) fold(e agent.Event) {
	t.tools.note(e)
	if e.IsProgress() && e.Kind != agent.Result && e.Kind != agent.Unread {
		t.Worked = true
	}
	switch e.Kind {
	case agent.ToolStarted:
		t.open(e)
	case agent.ToolEnded:
		t.end(e)
	case agent.Retry:
		t.fail(e)
	case agent.Text, agent.Writing:
		t.Finished = time.Time{} // the agent goes on after a result
		if t.Failed.Kind == agent.Retry {
			t.Failures = 0
		}
	case agent.Unread:
		t.calls = nil // any of the open calls may have ended
	case agent.Result:
		t.Finished, t.Failures = e.Time, 0
	case agent.Answered:
		t.Answered = e.Time
	case agent.Session:
		t.session, t.Finished = true, time.Time{}
	}
	switch e.Kind {
	case agent.Writing, agent.Heartbeat, agent.Usage, agent.Unread, agent.Heard, agent.Answered:
	default:
		t.Last = e
	}
}

// fail counts an error. Failed calls and provider retries are not counted together. An error of the
// other kind begins a new count.
func (t *Trace) fail(e agent.Event) {
	if t.Failures > 0 && t.Failed.Kind != e.Kind {
		t.Failures = 0
	}
	t.Failures++
	t.Failed = e
}

func (t *Trace) open(e agent.Event) {
	t.Finished = time.Time{}
	// The programs of some agents report a call twice.
	t.calls = slices.DeleteFunc(t.calls, func(c call) bool { return e.ID != "" && c.ID == e.ID })
	if len(t.calls) == maxCalls {
		oldest := max(0, slices.IndexFunc(t.calls, func(c call) bool { return !c.ended.IsZero() }))
		t.calls = slices.Delete(t.calls, oldest, oldest+1)
	}
	opened := Call{ID: e.ID, Tool: e.Tool, Class: e.Class, Text: e.Text, Since: e.Time}
	t.calls = append(t.calls, call{Call: opened, sum: e.Sum})
}

func (t *Trace) end(e agent.Event) {
	for i := range t.calls {
		c := &t.calls[i]
		if c.ID != e.ID || !c.ended.IsZero() {
			continue
		}
		c.ended = e.Time
		if t.repeats(repeat{tool: c.Tool, input: c.sum, result: e.Sum}) || e.Failed {
			t.fail(e)
		} else {
			t.Failures = 0
		}
		return
	}
}

// repeats counts equal results of the same call in a row and reports whether there are too many.
func (t *Trace) repeats(r repeat) bool {
	if r.input == 0 || r.result == 0 {
		t.same = repeat{}
		return false
	}
	r.times = t.same.times
	if r != t.same {
		r.times = 0
	}
	r.times++
	t.same = r
	return r.times >= sameCall
}

// Obstacle returns in words the call that fails again and again in the same way, or "" if there is
// no such call.
func (t *Trace) Obstacle() string {
	if t.same.times < sameFault || t.Failures < sameFault || t.Failed.Kind != agent.ToolEnded {
		return ""
	}
	return fmt.Sprintf("%s failed %d times with the same input: %s",
		t.same.tool, t.same.times, agent.OneLine(t.Failed.Text))
}

// Open returns the calls that are open, in the order in which they began.
func (t *Trace) Open() []Call {
	var open []Call
	for _, c := range t.calls {
		if c.ended.IsZero() {
			open = append(open, c.Call)
		}
	}
	return open
}

// OpenAt returns the calls that were open at a time. Old calls may be missing, because the trace
// keeps at most maxCalls calls.
func (t *Trace) OpenAt(at time.Time) []Call {
	var open []Call
	for _, c := range t.calls {
		if !c.Since.After(at) && (c.ended.IsZero() || c.ended.After(at)) {
			open = append(open, c.Call)
		}
	}
	return open
}

// Wait is the party that an agent waits for: a tool, the provider or its model.
type Wait int

// The parties that an agent can wait for. The party is Unknown if a program does not report that it
// uses a model.
const (
	Unknown     Wait = iota
	ForTools         // calls of tools are open
	ForProvider      // the provider refused, and the program tries again
	ForModel
)

// Waiting returns the party that the agent waits for.
func (t *Trace) Waiting() Wait {
	switch {
	case len(t.Open()) > 0:
		return ForTools
	case t.Failures > 0 && t.Failed.Kind == agent.Retry:
		return ForProvider
	case t.session && t.Finished.IsZero():
		return ForModel
	default:
		return Unknown
	}
}

// Asked returns the time since which the agent has waited for its model.
func (t *Trace) Asked() time.Time {
	if t.Last.Time.After(t.Progress) {
		return t.Last.Time
	}
	return t.Progress
}
