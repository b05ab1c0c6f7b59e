package health

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// TestTools: what a page shows of an agent's time with tools. Calls side by side are one span; a
// call that never ends, ends with the agent.
func TestTools(t *testing.T) {
	began := time.Unix(1000, 0)
	start := func(at int, id, tool string) agent.Event {
		return agent.Event{Kind: agent.ToolStarted, ID: id, Tool: tool, Time: began.Add(time.Duration(at) * time.Second)}
	}
	end := func(at int, id string, failed bool) agent.Event {
		return agent.Event{Kind: agent.ToolEnded, ID: id, Failed: failed, Time: began.Add(time.Duration(at) * time.Second)}
	}
	reply := start(9, "r", "StructuredOutput")
	reply.Class = agent.ReplyTool
	for name, c := range map[string]struct {
		events []agent.Event
		want   *event.ToolWork
	}{
		"none":             {nil, nil},
		"the reply":        {[]agent.Event{reply}, nil},
		"an end alone":     {[]agent.Event{end(3, "1", true)}, nil},
		"one":              {[]agent.Event{start(2, "1", "Bash"), end(5, "1", false)}, &event.ToolWork{Uses: []event.ToolUse{{Tool: "Bash", Calls: 1, Millis: 3000, Longest: 3000}}, Spans: []event.ToolSpan{{From: 2000, Millis: 3000}}}},
		"reported twice":   {[]agent.Event{start(2, "1", "Bash"), start(3, "1", "Bash"), end(5, "1", false)}, &event.ToolWork{Uses: []event.ToolUse{{Tool: "Bash", Calls: 1, Millis: 3000, Longest: 3000}}, Spans: []event.ToolSpan{{From: 2000, Millis: 3000}}}},
		"it never ended":   {[]agent.Event{start(4, "1", "Bash")}, &event.ToolWork{Uses: []event.ToolUse{{Tool: "Bash", Calls: 1, Millis: 6000, Longest: 6000}}, Spans: []event.ToolSpan{{From: 4000, Millis: 6000}}}},
		"two side by side": {[]agent.Event{start(1, "1", "Bash"), start(2, "2", "Read"), end(3, "1", true), end(4, "2", false), start(6, "3", "Bash"), end(7, "3", false)}, &event.ToolWork{Uses: []event.ToolUse{{Tool: "Bash", Calls: 2, Failed: 1, Millis: 3000, Longest: 2000}, {Tool: "Read", Calls: 1, Millis: 2000, Longest: 2000}}, Spans: []event.ToolSpan{{From: 1000, Millis: 3000}, {From: 6000, Millis: 1000}}}},
	} {
		trace := NewTrace(began)
		for _, e := range c.events {
			trace.Note(e)
		}
		if diff := cmp.Diff(c.want, trace.Tools(began.Add(10*time.Second))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestManyTools: an agent that uses ever new tools, and makes thousands of calls, makes no long
// record; what is counted stays true.
func TestManyTools(t *testing.T) {
	began := time.Unix(1000, 0)
	trace := NewTrace(began)
	for i := range 1000 {
		at, id := began.Add(time.Duration(i)*time.Minute), fmt.Sprint(i)
		trace.Note(agent.Event{Kind: agent.ToolStarted, ID: id, Tool: "tool " + id, Time: at})
		trace.Note(agent.Event{Kind: agent.ToolEnded, ID: id, Time: at.Add(time.Duration(i) * time.Millisecond)})
	}
	work := trace.Tools(began.Add(1000 * time.Minute))
	calls := 0
	for _, u := range work.Uses {
		calls += u.Calls
	}
	if calls != 1000 || len(work.Uses) != mostUses+1 || len(work.Spans) != mostSpans || work.Spans[mostSpans-1].Millis != 999 || work.Spans[0].Millis < 800 {
		t.Errorf("%d calls, %d tools, %d spans, the first of %d ms; want 1000, %d, %d, the longest ones", calls, len(work.Uses), len(work.Spans), work.Spans[0].Millis, mostUses+1, mostSpans)
	}
}
