package flow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// resumed is work, or the Manager, that goes on where it was cut short.
func resumed(call event.Call, attempt, round int, from string) flow.Effect {
	return flow.Spawn{AttemptRef: ref(call, attempt, round), From: from, GoesOn: true}
}

// unnamed is an attempt that was stopped before its tool named a session.
func unnamed(r event.AttemptRef) event.Event {
	return event.AttemptStopped{AttemptRef: r, Reason: "SIGINT", End: event.End{Left: "a"}}
}

// TestContinuation: work that was cut short goes on in its session, without a retry; where that
// cannot be, it starts afresh with the same input. DESIGN, "What must hold, always", 1.
func TestContinuation(t *testing.T) {
	tests := []struct {
		name     string
		outcomes []outcome
		want     flow.Effect
	}{
		{"stopped", []outcome{stopped}, resumed(event.TaskCall, 2, 0, "task-1")},
		{"stopped before its session was named", []outcome{unnamed}, fresh(event.TaskCall, 2)},
		{"stopped twice", []outcome{stopped, stopped}, resumed(event.TaskCall, 3, 0, "task-2")},
		{"stopped again before it was named again", []outcome{stopped, unnamed}, resumed(event.TaskCall, 3, 0, "task-1")},
		{"a format retry after it goes on in the same session", []outcome{stopped, rejected}, resumed(event.TaskCall, 3, 0, "task-1")},
		{"a format retry before it is forgotten", []outcome{rejected, stopped}, resumed(event.TaskCall, 3, 0, "task-2")},
		{"the tool does not know the session", []outcome{stopped, lost}, fresh(event.TaskCall, 3)},
		{"the Manager's session is its own", []outcome{stopped, accepted, content}, fresh(event.ManagerCall, 1)},
		{"the Manager", []outcome{accepted, content, stopped}, resumed(event.ManagerCall, 2, 0, "manager-1")},
		{"a review sees the work afresh", []outcome{accepted, stopped}, review(3, 1, "task-1")},
		{"a review sees the work that went on", []outcome{stopped, accepted}, review(3, 1, "task-2")},
		{"work that was sent back", []outcome{accepted, notContent, stopped}, resumed(event.TaskCall, 4, 2, "task-3")},
		{"sent back, and cut short before it was named", []outcome{accepted, notContent, unnamed}, resumed(event.TaskCall, 4, 2, "task-1")},
		{"sent back, and its session lost", []outcome{accepted, notContent, stopped, lost}, fresh(event.TaskCall, 5)},
		{"and sent back once more", []outcome{accepted, notContent, stopped, accepted, notContent}, sentBack(6, 3, "task-4")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{})
			p.resumes = "claude"
			p.attempts(tt.outcomes...)
			if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
				t.Errorf("Next: -want +got\n%s", diff)
			}
			if p.Step.GoesOn != nil && p.Step.GoesOn.Adapter != "claude" {
				t.Errorf("it goes on at %+v, want the adapter's name", p.Step.GoesOn)
			}
			p.record(unnamed(p.begin()))
			if edits := p.reopen("z"); len(edits) != 1 {
				t.Fatalf("recorded %+v, want a fresh start", edits)
			}
			if p.Step.GoesOn != nil {
				t.Error("on a board that was edited, it goes on with the work that was cut short")
			}
		})
	}
	p := newPlay(t, nil, event.Limits{}).attempts(stopped)
	if diff := cmp.Diff(fresh(event.TaskCall, 2), p.next(), anyBy); diff != "" {
		t.Errorf("a tool that cannot resume: -want +got\n%s", diff)
	}
}

// TestContinuationCostsNoRetry: neither a stop nor a lost session is a reply with a wrong format.
func TestContinuationCostsNoRetry(t *testing.T) {
	p := newPlay(t, nil, event.Limits{})
	p.resumes = "claude"
	for range 10 {
		p.attempts(stopped, lost)
	}
	if p.Step.Rejected != 0 || p.Step.Lost != 0 {
		t.Errorf("%d rejected, %d lost, want none", p.Step.Rejected, p.Step.Lost)
	}
	p.attempts(stopped, rejected, rejected, rejected, rejected)
	if end, ok := p.next().(flow.Finish); !ok || end.Outcome != event.Exhausted {
		t.Fatalf("Next = %+v, want the retries to be exhausted", p.next())
	}
	p.nextRun()
	if diff := cmp.Diff(fresh(event.TaskCall, 26), p.next(), anyBy); diff != "" {
		t.Errorf("after it: -want +got\n%s", diff)
	}
}

// TestContinuationAfterACrash: the session counts from when it was named, also of a run that died.
func TestContinuationAfterACrash(t *testing.T) {
	p := newPlay(t, nil, event.Limits{})
	p.resumes = "claude"
	r := p.begin()
	p.record(event.SessionNamed{AttemptRef: r, Session: "s1"})
	want := []event.Event{event.AttemptStopped{AttemptRef: r, End: event.End{Session: "s1"}, Reason: "the run died before the attempt's end was known; the work goes on in its session"}}
	if diff := cmp.Diff(want, p.reopen("a")); diff != "" {
		t.Errorf("recorded: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(resumed(event.TaskCall, 2, 0, "s1"), p.next(), anyBy); diff != "" {
		t.Errorf("Next: -want +got\n%s", diff)
	}
	p.begin() // and dies again, before its tool names a session
	p.reopen("a")
	if diff := cmp.Diff(resumed(event.TaskCall, 3, 0, "s1"), p.next(), anyBy); diff != "" {
		t.Errorf("after a second crash: -want +got\n%s", diff)
	}
	afresh := p.Afresh()
	if diff := cmp.Diff(fresh(event.TaskCall, 3), flow.Effect(afresh)); diff != "" {
		t.Errorf("Afresh: -want +got\n%s", diff)
	}
	p.record(event.AttemptStarted{AttemptRef: afresh.AttemptRef})
	if p.Step.GoesOn != nil || p.Step.At != nil {
		t.Errorf("an attempt that starts afresh goes on at %+v, %+v", p.Step.GoesOn, p.Step.At)
	}
}

// TestHung: an agent that the watch ended goes on in its session, or starts afresh and is
// told why; a reply that was there first makes the decision void; one that a restart
// would not help needs a person.
func TestHung(t *testing.T) {
	test := func(p *play, d event.Decision) event.AttemptRef {
		r := p.begin()
		p.record(event.AnomalyFound{AttemptRef: r, Anomaly: event.Anomaly{Check: "idle"}},
			event.RebootTested{AttemptRef: r, Anomaly: event.Anomaly{Check: "MCP stuck", Tool: "look"}, Decision: d, Text: "its call hangs"})
		return r
	}
	for name, tt := range map[string]struct {
		resumes  string
		decision event.Decision
		end      outcome
		want     flow.Effect
		restarts int
		input    bool // it is the same
	}{
		"in its session":       {"claude", event.Restart, stopped, resumed(event.TaskCall, 2, 0, "task-1"), 1, true},
		"without a session":    {"", event.Restart, stopped, fresh(event.TaskCall, 2), 1, false},
		"its reply came first": {"claude", event.Restart, accepted, fresh(event.ManagerCall, 1), 0, false},
		"a format failure":     {"claude", event.Restart, rejected, fresh(event.TaskCall, 2), 0, true},
		"planned anew":         {"claude", event.Replan, stopped, fresh(event.ManagerCall, 1), 0, false},
		"stuck":                {"claude", event.Stuck, stopped, flow.Finish{Outcome: event.NeedsPerson, Text: "STUCK: its call hangs"}, 0, true},
	} {
		p := newPlay(t, nil, event.Limits{})
		p.resumes = tt.resumes
		p.record(tt.end(test(p, tt.decision)))
		if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
			t.Errorf("%s: Next: -want +got\n%s", name, diff)
		}
		s := p.Step
		if s.Restarts != tt.restarts || s.Hung != nil || (s.Input != nil) != tt.input || s.Rejected != map[bool]int{true: 1}[name == "a format failure"] {
			t.Errorf("%s: step %+v", name, s)
		}
		if tt.restarts == 1 && (s.Advice != "its call hangs" || s.LastHung != "MCP stuck look") {
			t.Errorf("%s: advice %q, last %q", name, s.Advice, s.LastHung)
		}
		if replanned := s.Anomaly != nil && s.Anomaly.Tool == "look" && s.TaskStatus == "blocked"; replanned != (tt.decision == event.Replan) {
			t.Errorf("%s: anomaly %+v, status %q", name, s.Anomaly, s.TaskStatus)
		}
		if tt.decision == event.Stuck {
			p.nextRun()
			if diff := cmp.Diff(fresh(event.TaskCall, 2), p.next(), anyBy); diff != "" || p.Step.Unsettled != "" {
				t.Errorf("%s, the next run: -want +got\n%s", name, diff)
			}
		}
	}
	p := newPlay(t, nil, event.Limits{}) // the run dies between the decision and the end of the agent
	p.resumes = "claude"
	p.record(event.SessionNamed{AttemptRef: test(p, event.Restart), Session: "s1"})
	p.reopen("a")
	if diff := cmp.Diff(resumed(event.TaskCall, 2, 0, "s1"), p.next(), anyBy); diff != "" || p.Step.Restarts != 1 {
		t.Errorf("after a crash: %d restarts, -want +got\n%s", p.Step.Restarts, diff)
	}
	for _, e := range []event.Event{event.AnomalyFound{AttemptRef: ref(event.TaskCall, 9, 0)}, event.RebootTested{AttemptRef: ref(event.TaskCall, 9, 0)}} {
		if err := p.Apply(e); err == nil {
			t.Errorf("%s of an attempt that is not running is applied", e.Kind())
		}
	}
}

// TestStuckManager: work that was accepted and reviewed stays so when the Manager, or the
// reviewer, hangs for good.
func TestStuckManager(t *testing.T) {
	for name, tt := range map[string]struct {
		before []outcome
		want   flow.Effect
	}{
		"Manager":  {[]outcome{accepted, content}, fresh(event.ManagerCall, 2)},
		"reviewer": {[]outcome{accepted}, review(3, 1, "task-1")},
	} {
		p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(tt.before...)
		r := p.begin()
		p.record(event.RebootTested{AttemptRef: r, Decision: event.Stuck, Text: "it hangs"}, stopped(r))
		p.nextRun()
		if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestAdviceIsNotLost: what the watch found is told to the next attempt, also when the
// session to go on in is lost.
func TestAdviceIsNotLost(t *testing.T) {
	p := newPlay(t, nil, event.Limits{})
	p.resumes = "claude"
	r := p.begin()
	p.record(event.RebootTested{AttemptRef: r, Decision: event.Restart, Text: "it hangs"}, stopped(r))
	if p.Step.Input == nil {
		t.Error("in its session the input is the same")
	}
	p.attempts(lost)
	if p.Step.Input != nil || p.Step.Advice != "it hangs" {
		t.Errorf("input %s, advice %q, want a new input with the advice", p.Step.Input, p.Step.Advice)
	}
}

// TestToolStops: a reply that comes before its agent is ended for a missing tool is kept, or
// counts as rejected, and the run ends: seed 002, "Tool Unavailability". For any other anomaly
// it makes the decision void.
func TestToolStops(t *testing.T) {
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	work := attempt(1, event.TaskCall, 1)
	for check, want := range map[string]string{event.ToolCheck: "STUCK: why", "idle": ""} {
		hung := event.RebootTested{AttemptRef: work.AttemptRef, Anomaly: event.Anomaly{Check: check, Tool: "mcp:lab"}, Decision: event.Stuck, Text: "why"}
		s := after(t, start, one, work, hung, tasked)
		end, ended := flow.Next(&s, board).(flow.Finish)
		if ended != (want != "") || end.Text != want || s.Step.TaskStatus != "ok" {
			t.Errorf("%s: %+v, want %q, and the work kept: %+v", check, end, want, s.Step)
		}
		s = after(t, start, one, work, hung, tasked, event.RunFinished{Outcome: event.NeedsPerson}, start)
		if e, ok := flow.Next(&s, board).(flow.Spawn); !ok || e.Call != event.ManagerCall {
			t.Errorf("%s: the next run begins with %+v, want the Manager", check, e)
		}
		s = after(t, start, one, work, hung, event.ReplyRejected{AttemptRef: work.AttemptRef, Reason: "not JSON"})
		if end, ended := flow.Next(&s, board).(flow.Finish); ended != (want != "") || end.Text != want || s.Step.Rejected != 1 {
			t.Errorf("%s, rejected: %+v, want %q", check, end, want)
		}
	}
}

// TestAdviceOutlivesALimit: the next run starts work afresh that was restarted, and tells it why.
func TestAdviceOutlivesALimit(t *testing.T) {
	work := attempt(1, event.TaskCall, 1)
	work.Adapter, work.Resumes = "claude", true
	restarted := []event.Event{start, one, work, event.SessionNamed{AttemptRef: work.AttemptRef, Session: "s1"},
		event.RebootTested{AttemptRef: work.AttemptRef, Anomaly: event.Anomaly{Check: "idle"}, Decision: event.Restart, Text: "Look at b.md."},
		event.AttemptStopped{AttemptRef: work.AttemptRef, End: event.End{Session: "s1"}}}
	if s := after(t, restarted...); s.Step.GoesOn == nil || s.Step.Input == nil {
		t.Fatalf("%+v, want the work to go on with its input", s.Step)
	}
	s := after(t, append(restarted, event.RunFinished{Outcome: event.LimitReached}, start)...)
	if s.Step.GoesOn != nil || s.Step.Input != nil || s.Step.Advice != "Look at b.md." {
		t.Errorf("%+v, want the work afresh, with an input that tells the advice", s.Step)
	}
}
