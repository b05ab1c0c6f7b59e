package flow_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/flow"
)

// TestVerdict: what a judge came to, in words behind its name.
func TestVerdict(t *testing.T) {
	yes, no := flow.Answer{Yes: true}, flow.Answer{}
	ref := flow.AttemptRef{Role: "Implementor"}
	for want, e := range map[string]flow.JudgeAnswered{
		"says Q1 yes, Q2 no":                                                   {Answers: []flow.Answer{yes, no}},
		"says Q1 no: begin with the parser":                                    {Answers: []flow.Answer{no}, Advice: "begin with\nthe parser"},
		"says Q1 yes; Implementor is left alone (CONTINUE)":                    {AttemptRef: ref, Answers: []flow.Answer{yes}, Decision: flow.Continue},
		"says Q1 yes; Implementor is left alone (ASSIST): look at the lock":    {AttemptRef: ref, Answers: []flow.Answer{yes}, Decision: flow.Assist, Advice: "look at the lock"},
		"says Q1 yes, which is void: the agent that it judges has ended":       {Answers: []flow.Answer{yes}, Reason: "the agent that it judges has ended", Advice: "unsaid"},
		"has not judged: no valid reply in 4 attempts; the last: empty stdout": {Reason: "no valid reply in 4 attempts;\nthe last: empty stdout", Advice: "unsaid"},
	} {
		if got := e.Verdict(); got != want {
			t.Errorf("Verdict = %q, want %q", got, want)
		}
	}
}

// TestHeadline: a text of a person's screen length stays whole; of a longer one the
// beginning and the end are said.
func TestHeadline(t *testing.T) {
	headline := func(text string) string {
		return strings.TrimPrefix(flow.JudgeAnswered{Reason: text}.Verdict(), "has not judged: ")
	}
	most := strings.Repeat("a", 600)
	if got := headline(most); got != most {
		t.Errorf("600 bytes became %q", got)
	}
	long := strings.Repeat("b", 350) + strings.Repeat("-", 101) + strings.Repeat("e", 250)
	if want := strings.Repeat("b", 350) + " … " + strings.Repeat("e", 250); headline(long) != want {
		t.Errorf("701 bytes became %q, want %q", headline(long), want)
	}
	if got := headline(strings.Repeat("é", 400)); !utf8.ValidString(got) || !strings.Contains(got, "é … é") {
		t.Errorf("a letter of two bytes was cut: %q", got)
	}
}

// TestMessageInWords: a message has one of its three texts, and is told as that.
func TestMessageInWords(t *testing.T) {
	for want, c := range map[string]flow.Content{
		"Are you at work?": {Question: "Are you at work?"},
		"Try the mirror.":  {Assistance: "guidance", Details: "Try the mirror."},
		"Use Go.":          {Text: "Use Go."},
		"QDT":              {Question: "Q", Details: "D", Text: "T"},
	} {
		if got := c.String(); got != want {
			t.Errorf("String = %q, want %q", got, want)
		}
	}
}

// TestWhy: a person is asked for consent with what was found, or with what the person would be
// told where an agent is stuck.
func TestWhy(t *testing.T) {
	found := flow.RebootTested{Anomaly: flow.Anomaly{Details: "silent for 20m"}, Decision: flow.Restart, Text: "it is restarted"}
	stuck := found
	stuck.Decision = flow.Stuck
	if found.Why() != "silent for 20m" || stuck.Why() != "it is restarted" {
		t.Errorf("Why = %q, and of a stuck agent %q", found.Why(), stuck.Why())
	}
}

// TestUseOf: time and cost of a judge count like those of an attempt, if one was started.
func TestUseOf(t *testing.T) {
	spent := spending(7)
	for name, tt := range map[string]struct {
		event flow.Event
		is    bool
	}{
		"an attempt":               {flow.ReplyAccepted{Millis: 5, Spent: spent}, true},
		"a judge":                  {flow.JudgeAnswered{Tries: 1, Millis: 5, Spent: spent}, true},
		"a judge never started":    {flow.JudgeAnswered{Millis: 5, Spent: spent}, false},
		"an event with no program": {flow.RunStarted{}, false},
	} {
		millis, got, is := flow.UseOf(tt.event)
		if is != tt.is || is && (millis != 5 || got != spent) {
			t.Errorf("%s: %d, %v, %v", name, millis, got, is)
		}
	}
}

// TestJudgeCounts: what a judge came to is used by the task, the run and the board; one that was
// never started came to nothing.
func TestJudgeCounts(t *testing.T) {
	work := attempt(1, flow.TaskCall, 1)
	for tries, attempts := range map[int]int{0: 0, 1: 1} {
		s := after(t, start, one, work, flow.JudgeAsked{AttemptRef: work.AttemptRef, Mark: "m"})
		if s.Step.JudgeMark != "m" {
			t.Errorf("the mark of the judge is %q", s.Step.JudgeMark)
		}
		apply(t, &s, flow.JudgeAnswered{AttemptRef: work.AttemptRef, Tries: tries, Millis: 5})
		if s.Step.JudgeMark != "" || s.Used.Attempts != attempts || s.Total.Attempts != attempts || s.Used.Millis != int64(5*attempts) {
			t.Errorf("after %d tries: mark %q, used %+v, in all %+v", tries, s.Step.JudgeMark, s.Used, s.Total)
		}
	}
}

// TestPlus: two lots of attempts together; no sum goes over the greatest number.
func TestPlus(t *testing.T) {
	a := flow.Used{Attempts: 1, Told: 2, Priced: 3, Input: 4, Cached: 5, Output: 6, Cost: 7, Millis: 8}
	b := flow.Used{Attempts: 10, Told: 20, Priced: 30, Input: 40, Cached: 50, Output: 60, Cost: 70, Millis: 80}
	want := flow.Used{Attempts: 11, Told: 22, Priced: 33, Input: 44, Cached: 55, Output: 66, Cost: 77, Millis: 88}
	if diff := cmp.Diff(want, a.Plus(b)); diff != "" {
		t.Errorf("Plus: -want +got\n%s", diff)
	}
	most := flow.Used{Cost: 1<<63 - 1}
	if got := most.Plus(a).Cost; got != 1<<63-1 {
		t.Errorf("the greatest cost and 7 more is %d", got)
	}
	if got := most.Plus(flow.Used{Cost: -5}).Cost; got != 1<<63-1 {
		t.Errorf("a debt of 5 leaves %d", got)
	}
}

// TestMisses: seed 002, "Tool Unavailability": for how many agents a tool was missing, and
// whether this call is among them.
func TestMisses(t *testing.T) {
	work := attempt(1, flow.TaskCall, 1)
	s := after(t, start, one, work)
	missing := func(tool string, agents int) flow.ToolUnavailable {
		return flow.ToolUnavailable{AttemptRef: work.AttemptRef, Tool: tool, Agents: agents, Then: flow.ToolCaveat}
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

// TestWays: what a person can do about a board that needs one.
func TestWays(t *testing.T) {
	undone := []flow.TaskStatus{{Task: "t1", Status: "error"}}
	block := &flow.Supervisor{Block: &flow.Block{Text: "it is not safe"}}
	ended := &flow.Supervisor{Block: &flow.Block{Text: "it is not safe", Ended: "terminate"}}
	loop := []flow.Quarantine{{Task: "t9"}}
	for name, tt := range map[string]struct {
		state flow.State
		want  flow.Ways
	}{
		"a Manager that ended the board with a task": {flow.State{Last: flow.Ending{Status: "blocked", Task: "t2"}}, flow.Ways{Undone: "t2"}},
		"which is among those that are not ok":       {flow.State{Last: flow.Ending{Status: "blocked", Task: "t1"}, NotOK: undone}, flow.Ways{Undone: "t1"}},
		"or is not":                                  {flow.State{Last: flow.Ending{Status: "blocked", Task: "t2"}, NotOK: undone}, flow.Ways{Undone: "t1"}},
		"a board that ended ok":                      {flow.State{Last: flow.Ending{Status: "ok", Task: "t2"}, NotOK: undone}, flow.Ways{Undone: "t1"}},
		"with all tasks ok":                          {flow.State{Last: flow.Ending{Status: "ok", Task: "t2"}}, flow.Ways{}},
		"an open step":                               {flow.State{Step: &flow.Step{}, NotOK: undone}, flow.Ways{}},
		"a review that is never content":             {flow.State{Step: &flow.Step{Unsettled: "x"}}, flow.Ways{GoesOn: true}},
		"a checkpoint that stops the board":          {flow.State{Supervisor: block}, flow.Ways{Blocked: true}},
		"one that has ended it":                      {flow.State{Supervisor: ended}, flow.Ways{}},
		"a task in quarantine":                       {flow.State{Quarantine: loop, Last: flow.Ending{Status: "ok"}}, flow.Ways{Quarantined: "t9"}},
		"at the beginning":                           {flow.State{Quarantine: loop}, flow.Ways{Quarantined: "t9"}},
		"behind an ending by the Manager":            {flow.State{Quarantine: loop, Last: flow.Ending{Status: "error", Task: "t1"}}, flow.Ways{Undone: "t1"}},
	} {
		if diff := cmp.Diff(tt.want, tt.state.Ways()); diff != "" {
			t.Errorf("%s: Ways: -want +got\n%s", name, diff)
		}
	}
}
