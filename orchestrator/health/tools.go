package health

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// tools sums up the calls of tools of an agent. The zero value is ready.
type tools struct {
	uses  map[string]*event.ToolUse
	open  map[string]call // calls that are open, by ID
	since time.Time       // time since which at least one call has been open
	spans []timeSpan
}

type timeSpan struct{ from, to time.Time }

const (
	mostUses  = 16  // number of tools of an attempt that are counted separately
	mostSpans = 100 // number of spans with an open call that are reported for an attempt

	leastSpan = 100 * time.Millisecond
)

// note notes an event. The call that hands over the reply is not counted.
func (t *tools) note(e agent.Event) {
	if e.Class == agent.ReplyTool {
		return
	}
	switch _, isOpen := t.open[e.ID]; {
	case e.Kind == agent.ToolStarted && !isOpen && len(t.open) < maxCalls:
		t.begin(e)
	case e.Kind == agent.ToolEnded && isOpen:
		t.end(e)
	}
}

func (t *tools) begin(e agent.Event) {
	if t.uses == nil {
		t.uses, t.open = map[string]*event.ToolUse{}, map[string]call{}
	}
	name := e.Tool
	if t.uses[name] == nil && len(t.uses) >= mostUses {
		name = ""
	}
	if t.uses[name] == nil {
		t.uses[name] = &event.ToolUse{Tool: name}
	}
	t.uses[name].Calls++
	if len(t.open) == 0 {
		t.since = e.Time
	}
	t.open[e.ID] = call{Call: Call{Tool: name, Since: e.Time}}
}

func (t *tools) end(e agent.Event) {
	t.close(t.open[e.ID], e.Time, e.Failed)
	delete(t.open, e.ID)
	if len(t.open) > 0 || e.Time.Sub(t.since) < leastSpan {
		return
	}
	if len(t.spans) == mostSpans {
		t.dropShortest()
	}
	t.spans = append(t.spans, timeSpan{t.since, e.Time})
}

func (t *tools) close(c call, at time.Time, failed bool) {
	u, took := t.uses[c.Tool], at.Sub(c.Since).Milliseconds()
	u.Millis += took
	u.Longest = max(u.Longest, took)
	if failed {
		u.Failed++
	}
}

func (t *tools) dropShortest() {
	shortest := 0
	for i, s := range t.spans {
		if s.to.Sub(s.from) < t.spans[shortest].to.Sub(t.spans[shortest].from) {
			shortest = i
		}
	}
	t.spans = slices.Delete(t.spans, shortest, shortest+1)
}

// Tools returns the agent's use of tools up to its end, or nil if its program has reported no call.
// It may be called only once, because it closes the open calls.
func (t *Trace) Tools(end time.Time) *event.ToolWork {
	w := &t.tools
	if w.uses == nil {
		return nil
	}
	for _, c := range w.open { // these calls ended with the agent
		w.close(c, end, false)
	}
	if len(w.open) > 0 {
		w.spans = append(w.spans, timeSpan{w.since, end})
	}
	work := &event.ToolWork{Uses: []event.ToolUse{}, Spans: []event.ToolSpan{}}
	for _, u := range slices.SortedFunc(maps.Values(w.uses), func(a, b *event.ToolUse) int {
		return cmp.Or(cmp.Compare(b.Millis, a.Millis), cmp.Compare(a.Tool, b.Tool))
	}) {
		work.Uses = append(work.Uses, *u)
	}
	for _, s := range w.spans {
		work.Spans = append(work.Spans, event.ToolSpan{
			From:   s.from.Sub(t.Started).Milliseconds(),
			Millis: s.to.Sub(s.from).Milliseconds(),
		})
	}
	return work
}
