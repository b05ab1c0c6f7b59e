package flow_test

import (
	"fmt"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestJudgeCounts: what a judge came to is used by the task, the run and the board; one that was
// never started came to nothing.
func TestJudgeCounts(t *testing.T) {
	work := attempt(1, event.TaskCall, 1)
	for try, attempts := range map[int]int{0: 0, 1: 1} {
		s := after(t, start, one, work, event.JudgeAsked{AttemptRef: work.AttemptRef, Mark: "m"})
		if s.Step.Judge == nil || s.Step.Judge.Mark != "m" {
			t.Errorf("the judge is %+v", s.Step.Judge)
		}
		apply(t, &s, event.JudgeAnswered{AttemptRef: work.AttemptRef, Try: try, Millis: 5})
		if s.Step.Judge != nil || s.Used.Attempts != attempts || s.Total.Attempts != attempts || s.Used.Millis != int64(5*attempts) {
			t.Errorf("after the attempt %d: judge %+v, used %+v, in all %+v", try, s.Step.Judge, s.Used, s.Total)
		}
	}
}

// TestMisses: seed 002, "Tool Unavailability": for how many agents a tool was missing, and
// whether this call is among them.
func TestMisses(t *testing.T) {
	work := attempt(1, event.TaskCall, 1)
	s := after(t, start, one, work)
	missing := func(tool string, agents int) event.ToolUnavailable {
		return event.ToolUnavailable{AttemptRef: work.AttemptRef, Tool: tool, Agents: agents, Then: event.ToolCaveat}
	}
	if n, known := s.Misses("mcp:lab", work.AttemptRef); n != 0 || known {
		t.Errorf("at first %d miss it, known %v", n, known)
	}
	apply(t, &s, missing("mcp:lab", 1), missing("gh", 1), missing("mcp:lab", 2))
	if n, known := s.Misses("mcp:lab", work.AttemptRef); n != 2 || !known || len(s.Tools) != 2 {
		t.Errorf("%d miss it, known %v; the tools are %+v", n, known, s.Tools)
	}
	other := work.AttemptRef
	other.Step = 2
	if n, known := s.Misses("mcp:lab", other); n != 2 || known {
		t.Errorf("in another call %d miss it, known %v", n, known)
	}
	for i := range 100 {
		apply(t, &s, missing(fmt.Sprint("tool ", i), 1))
	}
	if n, _ := s.Misses("tool 99", other); len(s.Tools) != 64 || n != 1 {
		t.Errorf("%d tools are kept, %d miss the last", len(s.Tools), n)
	}
	ended := after(t, start, one)
	if ended.Apply(missing("gh", 1)) == nil {
		t.Error("a tool was missing without an agent")
	}
}

// TestReplannedTimes: the plans of each task are counted apart, and those of
// a restart for each check.
func TestReplannedTimes(t *testing.T) {
	s := flow.State{Replanned: []string{"t1", "t2", "t1"}}
	if s.ReplannedTimes("t1") != 2 || s.ReplannedTimes("t2") != 1 || s.ReplannedTimes("t3") != 0 {
		t.Errorf("t1 %d, t2 %d, t3 %d times", s.ReplannedTimes("t1"), s.ReplannedTimes("t2"), s.ReplannedTimes("t3"))
	}
	for last, want := range map[string]bool{"tool": true, "tool mcp:lab": true, "toolbox": false, "idle": false, "": false} {
		if step := (flow.Step{LastHung: last}); step.WasRestartedFor("tool") != want {
			t.Errorf("the last restart was for %q: %v", last, !want)
		}
	}
}
