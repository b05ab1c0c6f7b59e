package flow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

func ptr[T any](v T) *T { return &v }

// after folds events into a state.
func after(t *testing.T, events ...event.Event) flow.State {
	t.Helper()
	var s flow.State
	for i, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	return s
}

var (
	start   = event.RunStarted{Limits: event.Limits{MaxRetries: 3}}
	one     = event.StepStarted{Step: 1, Task: "t1", Role: "Implementor", BoardSHA: "a"}
	tasked  = event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1}, Status: "ok"}
	managed = event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Attempt: 1},
		Status: "ok", NextTask: ptr("t2")}
)

func attempt(step int, call event.Call, n int) event.AttemptStarted {
	e := event.AttemptStarted{AttemptRef: event.AttemptRef{Step: step, Call: call, Task: "t1", Attempt: n}}
	if n == 1 {
		e.Input = json.RawMessage(`{}`)
		if call == event.ManagerCall {
			e.Before = &event.Baseline{BoardSHA: "a", Current: "t1"}
		}
	}
	return e
}

func rejection(step int, call event.Call, n int) event.ReplyRejected {
	return event.ReplyRejected{AttemptRef: event.AttemptRef{Step: step, Call: call, Attempt: n},
		Reason: "stdout is empty"}
}

// series is n attempts of a call that were all rejected.
func series(call event.Call, n int) []event.Event {
	var events []event.Event
	for i := 1; i <= n; i++ {
		events = append(events, attempt(1, call, i), rejection(1, call, i))
	}
	return events
}

// TestNext walks seed 004, "State Machine", one decision at a time.
func TestNext(t *testing.T) {
	open := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	accepted := []event.Event{start, one, attempt(1, event.TaskCall, 1), tasked}
	done := append(accepted[:len(accepted):len(accepted)], attempt(1, event.ManagerCall, 1), managed)
	finish := event.StepFinished{Step: 1, Manager: "blocked", Message: "no licence", BoardSHA: "b"}
	ran := append(done[:len(done):len(done)], finish)
	accept := event.Acknowledged{About: event.AboutEnd, BoardSHA: "c", Choice: event.Accept,
		Text: "accepted by you with 2 of 2 tasks undone"}
	disagreed := rejection(1, event.ManagerCall, 1)
	disagreed.Disagreed = true
	tests := []struct {
		name   string
		events []event.Event
		board  flow.Board
		want   flow.Effect
	}{
		{"a new board starts its task's agent", []event.Event{start}, open,
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "t1", Role: "Implementor",
				Attempt: 1}}},
		{"a Manager's task needs no other agent", []event.Event{start},
			flow.Board{Task: "t1", Role: "Manager", SHA: "a"},
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "t1", Role: "Manager",
				Attempt: 1}}},
		{"a board says itself how the Manager ended it", []event.Event{start},
			flow.Board{Terminal: true, Ended: "blocked", SHA: "a"},
			flow.Finish{Outcome: event.NeedsPerson, Text: "the board ended with status blocked, as it says itself"}},
		{"and the journal why", ran, flow.Board{Terminal: true, Ended: "blocked", SHA: "b"},
			flow.Finish{Outcome: event.NeedsPerson,
				Text: "no licence (the Manager ended the board with status blocked)"}},
		{"an ended that was written since counts", ran, flow.Board{Terminal: true, Ended: "error", SHA: "c"},
			flow.Finish{Outcome: event.NeedsPerson, Text: "the board ended with status error, as it says itself"}},
		{"a decision that did not reach the board does not count", append(ran[:len(ran):len(ran)], accept),
			flow.Board{Terminal: true, Ended: "blocked", SHA: "b"},
			flow.Finish{Outcome: event.NeedsPerson, Text: "the board ended with status blocked, as it says itself"}},
		{"what the Lead accepted is complete", append(ran[:len(ran):len(ran)], accept),
			flow.Board{Terminal: true, SHA: "c", Rest: flow.Rest{Tasks: 2,
				Open: []flow.TaskStatus{{Task: "t1", Status: "error"}}}},
			flow.Finish{Outcome: event.Complete, Text: "accepted by you with 2 of 2 tasks undone"}},
		{"as long as the board stands so", append(ran[:len(ran):len(ran)], accept),
			flow.Board{Terminal: true, SHA: "d"},
			flow.Finish{Outcome: event.Complete, Text: "the board is complete"}},
		{"a task that is not ok is named", []event.Event{start},
			flow.Board{Terminal: true, SHA: "a", Rest: flow.Rest{Tasks: 5,
				Open: []flow.TaskStatus{{Task: "t4", Status: "blocked"}}}},
			flow.Finish{Outcome: event.Complete, Text: "the board is complete; 1 of 5 tasks is blocked: t4"}},
		{"several are", []event.Event{start}, flow.Board{Terminal: true, SHA: "a",
			Rest: flow.Rest{Tasks: 5, Open: []flow.TaskStatus{{Task: "t4", Status: "error"},
				{Task: "t5", Status: "error"}}}},
			flow.Finish{Outcome: event.Complete, Text: "the board is complete; 2 of 5 tasks are in error: t4, t5"}},
		{"with different statuses", []event.Event{start},
			flow.Board{Terminal: true, SHA: "a", Rest: flow.Rest{Tasks: 9, Open: []flow.TaskStatus{
				{Task: "t4", Status: "blocked"}, {Task: "t5", Status: "error"}, {Task: "t6",
					Status: "error"}, {Task: "t7", Status: "error"}}}},
			flow.Finish{Outcome: event.Complete, Text: "the board is complete; 4 of 9 tasks are not ok: t4 (blocked), t5 (in error), t6 (in error) and 1 more"}},
		{"three are named", []event.Event{start}, flow.Board{Terminal: true, SHA: "a",
			Rest: flow.Rest{Tasks: 3, Open: []flow.TaskStatus{
				{Task: "t1", Status: "escalate"}, {Task: "t2", Status: "escalate"}, {Task: "t3", Status: "escalate"}}}},
			flow.Finish{Outcome: event.Complete,
				Text: "the board is complete; 3 of 3 tasks are escalated: t1, t2, t3"}},
		{"a terminal board is complete", []event.Event{start}, flow.Board{Terminal: true, SHA: "a"},
			flow.Finish{Outcome: event.Complete, Text: "the board is complete"}},
		{"a rejected reply is asked for again", append([]event.Event{start, one}, series(event.TaskCall, 1)...), open,
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "t1", Role: "Implementor",
				Attempt: 2}}},
		{"also the third time", append([]event.Event{start, one}, series(event.TaskCall, 3)...), open,
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "t1", Role: "Implementor",
				Attempt: 4}}},
		{"MAX_RETRIES is 3", append([]event.Event{start, one}, series(event.TaskCall, 4)...), open,
			flow.Finish{Outcome: event.Exhausted,
				Text: "Implementor gave no valid reply in 4 attempts for t1; the last was rejected: stdout is empty"}},
		{"an accepted reply goes to the Manager", accepted, open,
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "t1", Role: "Manager",
				Attempt: 1}}},
		{"a Manager that dies on a board it completed is started again",
			append(accepted[:len(accepted):len(accepted)], attempt(1, event.ManagerCall, 1),
				event.AttemptStopped{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Attempt: 1}}),
			flow.Board{Terminal: true, SHA: "z"},
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "t1", Role: "Manager",
				Attempt: 2}}},
		{"an interruption costs no retry", append(append([]event.Event{start, one}, series(event.TaskCall, 3)...),
			attempt(1, event.TaskCall, 4),
			event.AttemptStopped{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 4}}), open,
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "t1", Role: "Implementor",
				Attempt: 5}}},
		{"the Manager's reply goes onto the board", done, open, flow.WriteBoard{Step: 1}},
		{"the next step has the next number", ran, flow.Board{Task: "t2", Role: "Architect", SHA: "b"},
			flow.Spawn{AttemptRef: event.AttemptRef{Step: 2, Call: event.TaskCall, Task: "t2", Role: "Architect",
				Attempt: 1}}},
		{"a Manager that ends the board with blocked needs a person", ran, flow.Board{Terminal: true, SHA: "b"},
			flow.Finish{Outcome: event.NeedsPerson,
				Text: "no licence (the Manager ended the board with status blocked)"}},
		{"an edit settles it", ran, flow.Board{Terminal: true, SHA: "c"},
			flow.Finish{Outcome: event.Complete, Text: "the board is complete"}},
		{"so does the Lead's word", append(ran[:len(ran):len(ran)], event.Acknowledged{About: event.AboutEnd, Choice: event.Retry, BoardSHA: "b"}),
			flow.Board{Terminal: true, SHA: "b"},
			flow.Finish{Outcome: event.Complete, Text: "the board is complete"}},
		{"the limit of steps", append([]event.Event{event.RunStarted{Limits: event.Limits{MaxSteps: 1}}}, ran[1:]...),
			flow.Board{Task: "t2", SHA: "b"},
			flow.Finish{Outcome: event.LimitReached, Text: "the limit of 1 step is reached"}},
		{"a divergence freezes when it is to", []event.Event{start, one,
			event.StateDiverged{Source: event.SourceBoard, Step: 1, After: "b", Policy: "freeze", Text: "changed"}},
			flow.Board{Task: "t1", Role: "Implementor", SHA: "b"}, flow.Finish{Outcome: event.Frozen, Text: "changed"}},
		{"a Manager that contradicts its board to the end freezes it",
			append(append(accepted[:len(accepted):len(accepted)], event.RunStarted{}),
				attempt(1, event.ManagerCall, 1), disagreed), open,
			flow.Finish{Outcome: event.Frozen,
				Text: "Manager gave no valid reply in 1 attempt for t1; the last was rejected: stdout is empty"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := after(t, tt.events...)
			if diff := cmp.Diff(tt.want, flow.Next(&s, tt.board), anyBy); diff != "" {
				t.Errorf("Next: -want +got\n%s", diff)
			}
		})
	}
}

// TestRepetitionGuard: the same task, role and board bytes twenty times in a row is a loop;
// anything else that changes is not.
func TestRepetitionGuard(t *testing.T) {
	s := after(t, start)
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	for n := 1; n <= flow.RepeatLimit; n++ {
		if got, ok := flow.Next(&s, board).(flow.Spawn); !ok || got.Step != n {
			t.Fatalf("before step %d: Next = %+v, want Spawn", n, got)
		}
		for _, e := range []event.Event{
			event.StepStarted{Step: n, Task: "t1", Role: "Implementor", BoardSHA: "a"},
			attempt(n, event.TaskCall, 1), event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n,
				Call: event.TaskCall, Attempt: 1}, Status: "ok"},
			attempt(n, event.ManagerCall, 1), event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n,
				Call: event.ManagerCall, Attempt: 1}, Status: "ok"},
			event.StepFinished{Step: n, Manager: "ok", BoardSHA: "a"},
		} {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, ok := flow.Next(&s, board).(flow.SuspectLoop); !ok || got.Task != "t1" || !strings.Contains(got.Text, "20 times in a row and the board never changed") {
		t.Errorf("after %d times: Next = %+v, want a loop suspected", flow.RepeatLimit, got)
	}
	for _, other := range []flow.Board{{Task: "t2", Role: "Implementor", SHA: "a"}, {Task: "t1", Role: "Architect", SHA: "a"}, {Task: "t1", Role: "Implementor", SHA: "b"}} {
		if _, ok := flow.Next(&s, other).(flow.Spawn); !ok {
			t.Errorf("Next on %+v does not start an agent; a task that comes back changed is no loop", other)
		}
	}
}

// TestFreshAfterFinish: "Attempts and limits survive an interruption. After any Finish
// a new run has fresh ones."
func TestFreshAfterFinish(t *testing.T) {
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	events := append([]event.Event{start, one}, series(event.TaskCall, 4)...)
	interrupted := after(t, append(events, event.RunInterrupted{Outcome: event.Interrupted}, start)...)
	if e, ok := flow.Next(&interrupted, board).(flow.Finish); !ok || e.Outcome != event.Exhausted {
		t.Errorf("after an interruption Next = %+v, want exhausted still", e)
	}
	finished := after(t, append(events, event.RunFinished{Outcome: event.Exhausted}, start)...)
	want := flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "t1", Role: "Implementor",
		Attempt: 5}}
	if diff := cmp.Diff(flow.Effect(want), flow.Next(&finished, board)); diff != "" {
		t.Errorf("after a finish Next: -want +got\n%s", diff)
	}
	disagreed := rejection(1, event.TaskCall, 1)
	disagreed.Disagreed = true
	if s := after(t, start, one, attempt(1, event.TaskCall, 1), disagreed, event.RunFinished{Outcome: event.LimitReached}, start); s.Step.Disagreed || s.Step.Rejected != 0 {
		t.Errorf("step = %+v, want nothing held against its agent", s.Step)
	}
	frozen := after(t, start, event.RunFinished{Outcome: event.Frozen, Text: "x"}, start)
	if e, ok := flow.Next(&frozen, board).(flow.Finish); !ok || e.Outcome != event.Frozen {
		t.Errorf("a frozen board: Next = %+v, want frozen until the Lead's word", e)
	}
	if err := frozen.Apply(event.Acknowledged{About: event.AboutFile, Choice: event.Accept}); err != nil {
		t.Fatal(err)
	}
	if _, ok := flow.Next(&frozen, board).(flow.Spawn); !ok {
		t.Error("an acknowledged board does not go on")
	}
}

func TestTransitionsAreChecked(t *testing.T) {
	tests := []struct {
		name   string
		before []event.Event
		event  event.Event
	}{
		{"a step while one is open", []event.Event{start, one}, one},
		{"a step number left out", []event.Event{start}, event.StepStarted{Step: 2}},
		{"an attempt without a step", []event.Event{start}, attempt(1, event.TaskCall, 1)},
		{"two attempts at once", []event.Event{start, one, attempt(1, event.TaskCall, 1)},
			attempt(1, event.TaskCall, 2)},
		{"the Manager before the task's agent", []event.Event{start, one}, attempt(1, event.ManagerCall, 1)},
		{"a first attempt without input", []event.Event{start, one},
			event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1}}},
		{"an outcome without an intent", []event.Event{start, one}, tasked},
		{"an outcome twice", []event.Event{start, one, attempt(1, event.TaskCall, 1), tasked}, tasked},
		{"a step that ends without the Manager", []event.Event{start, one, attempt(1, event.TaskCall, 1), tasked},
			event.StepFinished{Step: 1}},
		{"a write without a reply", []event.Event{start, one}, event.BoardWriteStarted{Step: 1}},
		{"a write that was not begun", []event.Event{start, one}, event.BoardWritten{Step: 1}},
		{"a write of another step", []event.Event{start, one, attempt(1, event.TaskCall, 1), tasked,
			attempt(1, event.ManagerCall, 1), managed}, event.BoardWriteStarted{Step: 2}},
		{"the outcome of another step's write", []event.Event{start, one, attempt(1, event.TaskCall, 1), tasked,
			attempt(1, event.ManagerCall, 1), managed, event.BoardWriteStarted{Step: 1}},
			event.BoardWritten{Step: 2}},
		{"a checkpoint that nobody holds", []event.Event{start, one}, event.CheckpointMissed{Task: "CHECKPOINT-001"}},
		{"giving up a step that is not open", []event.Event{start}, event.StepAbandoned{Step: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := after(t, tt.before...)
			was := s
			var transition *flow.TransitionError
			if err := s.Apply(tt.event); !errors.As(err, &transition) {
				t.Fatalf("Apply(%s) = %v, want a TransitionError", tt.event.Kind(), err)
			}
			if diff := cmp.Diff(was, s); diff != "" {
				t.Error("a refused event changed the state")
			}
		})
	}
}

// staleness is the reason for which a new run gives the open step up; "" when it goes on with it.
func staleness(t *testing.T, s flow.State, b flow.Board) (reason string) {
	t.Helper()
	sha := b.SHA
	if s.Step != nil && s.Step.Left != "" {
		sha = s.Step.Left
	}
	err := closeAndReopen(&s, flow.Board{SHA: sha}, func() (flow.Board, error) { return b, nil },
		func(e event.Event) error {
			if given, ok := e.(event.StepAbandoned); ok {
				reason = given.Reason
			}
			return s.Apply(e)
		})
	if err != nil {
		t.Fatal(err)
	}
	return reason
}

// TestStale: a step survives a restart only while the board still names its task in its role.
func TestStale(t *testing.T) {
	open := after(t, start, one)
	managing := after(t, start, one, attempt(1, event.TaskCall, 1), tasked, attempt(1, event.ManagerCall, 1))
	tests := []struct {
		name  string
		state flow.State
		board flow.Board
		want  string
	}{
		{"nothing is open", after(t, start), flow.Board{Task: "t9"}, ""},
		{"the same board", open, flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}, ""},
		{"the same task on an edited board", open, flow.Board{Task: "t1", Role: "Implementor", SHA: "z"}, ""},
		{"another task", open, flow.Board{Task: "t2", Role: "Implementor"}, "the board now names t2"},
		{"another role", open, flow.Board{Task: "t1", Role: "Architect"}, "t1 is now a task for Architect"},
		{"completed by hand", open, flow.Board{Terminal: true}, "the board was completed by hand"},
		{"the Manager may have moved it", managing, flow.Board{Task: "t2"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := staleness(t, tt.state, tt.board); got != tt.want {
				t.Errorf("Stale = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEditBetweenRuns: a person may edit the board while a step is open; what the Manager did not
// do is not held against it.
func TestEditBetweenRuns(t *testing.T) {
	rejected := rejection(1, event.ManagerCall, 1)
	rejected.Left = "a"
	s := after(t, start, one, attempt(1, event.TaskCall, 1), tasked, attempt(1, event.ManagerCall, 1), rejected,
		event.RunFinished{Outcome: event.Exhausted}, start)
	if s.Step.Left != "a" || s.Step.Before == nil {
		t.Fatalf("step = %+v, want the board as the attempt left it", s.Step)
	}
	if err := s.Apply(event.CallRestarted{Step: 1, Task: "t1", BoardSHA: "z"}); err != nil {
		t.Fatal(err)
	}
	want := flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "t1", Role: "Manager",
		Attempt: 1}}
	if diff := cmp.Diff(flow.Effect(want), flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor", SHA: "z"}), anyBy); diff != "" {
		t.Errorf("on the same task: -want +got\n%s", diff)
	}
	if got := staleness(t, s, flow.Board{Task: "t2", SHA: "z"}); got != "the board now names t2" {
		t.Errorf("Stale on another task = %q", got)
	}
}

// apply goes on from a state.
func apply(t *testing.T, s *flow.State, events ...event.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpenAttemptIsUnknown: until an attempt has an outcome, what it comes to is not known.
func TestOpenAttemptIsUnknown(t *testing.T) {
	var s flow.State
	says := func(money, tokens, json string) {
		t.Helper()
		used, total := s.Known()
		got, err := flow.Tally{Used: used}.MarshalJSON()
		if used.Money() != money || used.Tokens() != tokens || used != total || err != nil || !strings.HasPrefix(string(got), json) {
			t.Errorf("used %s, %q, %s, want %s, %q, %s", used.Money(), used.Tokens(), got, money, tokens, json)
		}
	}
	says("$0.00", "", `{"cost":"$0.00","cost_microusd":0,`)
	apply(t, &s, start, one, attempt(1, event.TaskCall, 1))
	says("unknown", "", `{"cost":"unknown","attempts":1,"attempts_without_cost":1,`)
	done := tasked
	done.Spent = dollars(7000)
	apply(t, &s, done)
	says("$0.0070", "700 in/1 out", `{"cost":"$0.0070",`)
}

func dollars(micros int64) *event.Spending {
	return &event.Spending{Input: micros / 10, Output: 1, Cost: &micros}
}

// TestCallRestarted: a call starts afresh on the board as it is, as if it had never been started.
func TestCallRestarted(t *testing.T) {
	stopped := event.AttemptStopped{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Attempt: 1},
		End: event.End{Left: "b"}}
	restarted := event.CallRestarted{Step: 1, Task: "t1", BoardSHA: "z", Reason: "its input is gone"}
	s := after(t, start, one, attempt(1, event.TaskCall, 1), tasked, attempt(1, event.ManagerCall, 1), stopped,
		restarted)
	if s.Step.Input != nil || s.Step.Before != nil || s.Step.Started != 0 || s.Step.BoardSHA != "z" {
		t.Errorf("step = %+v, want a call that was never started, on the board as it is", s.Step)
	}
	second := attempt(1, event.ManagerCall, 1)
	second.Input = nil
	if err := s.Apply(second); err == nil {
		t.Error("a first attempt without an input was applied")
	}
}

// TestReconcile: how a reply and the board that the Manager wrote are brought
// together, field by field.
func TestReconcile(t *testing.T) {
	before := flow.Fields{Current: "t1", Tasks: []string{"t1", "t2"}}
	tests := []struct {
		name  string
		after flow.Fields
		next  string
		tasks []string
		want  flow.Verdict
	}{
		{"the Manager left both", before, "t2", []string{"t1", "t2"}, flow.Verdict{WriteCurrent: true}},
		{"left both and repeats the task", before, "t1", []string{"t1", "t2"}, flow.Verdict{}},
		{"left both and ends", before, "", []string{"t1", "t2"}, flow.Verdict{WriteCurrent: true}},
		{"wrote current, agrees", flow.Fields{Current: "t2", Tasks: before.Tasks}, "t2", before.Tasks, flow.Verdict{}},
		{"wrote current, disagrees", flow.Fields{Current: "t2", Tasks: before.Tasks}, "t1", before.Tasks,
			flow.Verdict{Disagreement: "the board says current: t2, the reply says next_task: t1"}},
		{"wrote current, says null", flow.Fields{Current: "t2", Tasks: before.Tasks}, "", before.Tasks,
			flow.Verdict{Disagreement: "the board says current: t2, the reply says next_task: null"}},
		{"wrote null, names a task", flow.Fields{Terminal: true, Tasks: before.Tasks}, "t2", before.Tasks,
			flow.Verdict{Disagreement: "the board is complete, the reply says next_task: t2"}},
		{"completed the phase, names a task", flow.Fields{Terminal: true, Current: "t1", Tasks: before.Tasks}, "t2",
			before.Tasks,
			flow.Verdict{Disagreement: "the board is complete, the reply says next_task: t2"}},
		{"removed current, says null", flow.Fields{Tasks: before.Tasks}, "", before.Tasks,
			flow.Verdict{Disagreement: "the board names no current task and is not complete, the reply says next_task: null"}},
		{"wrote null, says null", flow.Fields{Terminal: true, Tasks: before.Tasks}, "", before.Tasks, flow.Verdict{}},
		{"phase complete with another current, says null",
			flow.Fields{Terminal: true, Current: "t2", Tasks: before.Tasks}, "", before.Tasks, flow.Verdict{}},
		{"replied with another list", before, "t1", []string{"t1"}, flow.Verdict{WriteTasks: true}},
		{"wrote another list, replied with it", flow.Fields{Current: "t1", Tasks: []string{"t3"}}, "t1",
			[]string{"t3"}, flow.Verdict{}},
		{"wrote another list, replied with the old", flow.Fields{Current: "t1", Tasks: []string{"t3"}}, "t1",
			before.Tasks, flow.Verdict{}},
		{"wrote one list, replied with another", flow.Fields{Current: "t1", Tasks: []string{"t3"}}, "t1",
			[]string{"t4"},
			flow.Verdict{Warning: "the Manager changed the board's tasks and replied with another list; the board's list stands"}},
		{"replied with the head of the very list", before, "t1", before.Tasks[:1], flow.Verdict{WriteTasks: true}},
		{"took the list off, and replied with none", flow.Fields{Current: "t1", Tasks: []string{}}, "t1", nil,
			flow.Verdict{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, flow.Reconcile(before, tt.after, tt.next, tt.tasks, "")); diff != "" {
				t.Errorf("Reconcile: -want +got\n%s", diff)
			}
		})
	}
}

// TestReconcileEnded: the board says how the Manager ended it, no longer than that is so, and
// never in a field of the author's.
func TestReconcileEnded(t *testing.T) {
	before := flow.Fields{Current: "t1", Tasks: []string{"t1"}}
	for name, tt := range map[string]struct {
		after       flow.Fields
		next, ended string
		want        flow.Verdict
	}{
		"with current": {before, "", "blocked", flow.Verdict{WriteCurrent: true, WriteEnded: true}},
		"the Manager wrote null": {flow.Fields{Terminal: true, Tasks: before.Tasks}, "", "error",
			flow.Verdict{WriteEnded: true}},
		"the Manager wrote all": {flow.Fields{Terminal: true, Tasks: before.Tasks, Ended: "error"}, "", "error",
			flow.Verdict{}},
		"another status": {flow.Fields{Terminal: true, Tasks: before.Tasks, Ended: "error"}, "", "blocked",
			flow.Verdict{WriteEnded: true}},
		"it ended well": {flow.Fields{Terminal: true, Tasks: before.Tasks, Ended: "error"}, "", "",
			flow.Verdict{WriteEnded: true}},
		"the board goes on": {flow.Fields{Current: "t1", Tasks: before.Tasks, Ended: "error"}, "t1", "",
			flow.Verdict{WriteEnded: true}},
		"the author's field": {flow.Fields{Current: "t1", Tasks: before.Tasks, Taken: true}, "t1", "",
			flow.Verdict{}},
		"the author's field at the end": {flow.Fields{Terminal: true, Tasks: before.Tasks, Taken: true}, "",
			"blocked", flow.Verdict{
				Warning: "the board's field ended is its author's, so only the journal says that the Manager ended the board with blocked"}},
	} {
		if diff := cmp.Diff(tt.want, flow.Reconcile(before, tt.after, tt.next, before.Tasks, tt.ended)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestDivergence: seed 002, "If external mutation is detected": work goes on, on the board as it
// is by now; what is told of state.md or of the journal is not about the board.
func TestDivergence(t *testing.T) {
	for source, want := range map[string]string{event.SourceBoard: "b", event.SourceState: "a", event.SourceJournal: "a"} {
		s := after(t, start, one, event.StateDiverged{Source: source, Task: "t1", Before: "a", After: "b",
			Policy: "accept", Text: "changed"})
		if s.Step.BoardSHA != want || s.Frozen != nil {
			t.Errorf("%s: the step works on board %q, frozen %v, want %q", source, s.Step.BoardSHA, s.Frozen, want)
		}
	}
	for policy, left := range map[string]string{event.PolicyAccept: "as it was left", event.PolicyRestore: "b"} {
		worked := tasked
		worked.Left = "as it was left"
		s := after(t, start, one, attempt(1, event.TaskCall, 1), worked,
			event.StateDiverged{Source: event.SourceBoard, Task: "t1", Before: "a", After: "b", Policy: policy})
		if s.Step.Left != left {
			t.Errorf("%s: the agent left board %q, want %q", policy, s.Step.Left, left)
		}
	}
	between := after(t, start, event.StateDiverged{Source: event.SourceBoard, Policy: "freeze", Text: "changed"})
	if between.Frozen == nil {
		t.Error("a divergence between two steps does not freeze the board")
	}
	refused(t, "a step on a frozen board", between, one)
}

// TestEndingOfARun: what the last run said at its end stands until the next one starts.
func TestEndingOfARun(t *testing.T) {
	later := after(t, start, event.RunInterrupted{Outcome: event.Later, Reason: "usage limit",
		Until: "2026-11-22T00:00:00Z"})
	if later.Running || later.Spent || later.Outcome != event.Later || later.Text != "usage limit" || later.Until != "2026-11-22T00:00:00Z" {
		t.Errorf("interrupted: %+v", later)
	}
	finished := after(t, start, event.RunFinished{Outcome: event.Complete, Text: "the board is complete"})
	if finished.Running || !finished.Spent || finished.Outcome != event.Complete || finished.Text != "the board is complete" {
		t.Errorf("finished: %+v", finished)
	}
	for _, s := range []flow.State{later, finished} {
		apply(t, &s, start)
		if !s.Running || s.Spent || s.Outcome != "" || s.Text != "" || s.Until != "" {
			t.Errorf("started again: %+v", s)
		}
	}
}
