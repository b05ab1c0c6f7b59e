package flow_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// reopen is what a new run records first, and on which board's bytes it finds the step.
func (p *play) reopen(sha string) (recorded []event.Event) {
	p.t.Helper()
	err := closeAndReopen(&p.State, flow.Board{SHA: sha}, func() (flow.Board, error) { return p.board, nil }, func(e event.Event) error {
		recorded = append(recorded, e)
		p.record(e)
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return recorded
}

const (
	died   = "the run died before the attempt's end was known; it is started again with the same input"
	edited = "the board was edited since the last run"
)

// TestCrashInEveryPhase: DESIGN, "What must hold, always", 1: a call without an
// outcome is run again with the same input, in a new attempt that costs no retry; and
// a review, not the work before it.
func TestCrashInEveryPhase(t *testing.T) {
	tests := []struct {
		name     string
		outcomes []outcome
		want     flow.Spawn
	}{
		{"work", []outcome{rejected}, fresh(event.TaskCall, 2).(flow.Spawn)},
		{"review", []outcome{accepted, rejected}, review(3, 1, "task-1").(flow.Spawn)},
		{"continuation", []outcome{accepted, notContent, rejected}, sentBack(4, 2, "task-1").(flow.Spawn)},
		{"second review", []outcome{accepted, notContent, accepted, rejected}, review(5, 2, "task-3").(flow.Spawn)},
		{"Manager", []outcome{accepted, content, rejected}, fresh(event.ManagerCall, 2).(flow.Spawn)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(tt.outcomes...)
			p.begin()
			used := p.Used
			used.AddOpen()
			got := p.reopen("a")
			want := []event.Event{event.AttemptStopped{AttemptRef: tt.want.AttemptRef, Reason: died}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("recorded: -want +got\n%s", diff)
			}
			if p.Step.Rejected != 1 || p.Step.Input == nil || p.Used != used {
				t.Errorf("step = %+v, used %+v, want the retries, the input and one unknown attempt more", p.Step, p.Used)
			}
			again := tt.want
			again.Attempt++
			if diff := cmp.Diff(flow.Effect(again), p.next(), anyBy); diff != "" {
				t.Errorf("Next: -want +got\n%s", diff)
			}
		})
	}
}

// TestEditInEveryPhase: a person may edit the board between two runs: the open call starts afresh,
// and what was accepted and is under review stays so.
func TestEditInEveryPhase(t *testing.T) {
	tests := []struct {
		name     string
		outcomes []outcome
		want     flow.Effect
	}{
		{"work", []outcome{rejected, rejected}, fresh(event.TaskCall, 1)},
		{"review", []outcome{accepted, rejected}, review(3, 1, "task-1")},
		{"continuation", []outcome{accepted, notContent, rejected}, sentBack(4, 2, "task-1")},
		{"Manager", []outcome{accepted, content, rejected}, fresh(event.ManagerCall, 2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(tt.outcomes...)
			if got := p.reopen("a"); len(got) != 0 {
				t.Errorf("on the board as it was left: recorded %+v", got)
			}
			want := []event.Event{event.CallRestarted{Step: 1, Task: "t1", BoardSHA: "z", Reason: edited}}
			if diff := cmp.Diff(want, p.reopen("z")); diff != "" {
				t.Errorf("recorded: -want +got\n%s", diff)
			}
			if s := p.Step; s.Rejected != 0 || s.Input != nil || s.Before != nil || s.Left != "" || s.BoardSHA != "z" {
				t.Errorf("step = %+v, want a new series of attempts on the new board", s)
			}
			if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
				t.Errorf("Next: -want +got\n%s", diff)
			}
			if got := p.reopen("z"); len(got) != 0 {
				t.Errorf("once more: recorded %+v", got)
			}
		})
	}
}

// TestBoardAsItWasLeft: each outcome says how its attempt left the board, and only
// another one was edited since.
func TestBoardAsItWasLeft(t *testing.T) {
	for name, outcomes := range map[string][]outcome{
		"accepted": {accepted}, "rejected": {rejected}, "stopped": {stopped}, "lost": {accepted, lost}, "not content": {accepted, notContent},
		"content": {accepted, content}, "the Manager's": {accepted, content, rejected},
	} {
		p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(outcomes[:len(outcomes)-1]...)
		p.record(leaving("b", outcomes[len(outcomes)-1](p.begin())))
		if p.Step.Left != "b" {
			t.Errorf("%s: the board was left as %q, want b", name, p.Step.Left)
		}
		if got := p.reopen("b"); len(got) != 0 {
			t.Errorf("%s: on the board as it was left, %+v was recorded", name, got)
		}
		if got := p.reopen("a"); len(got) != 1 {
			t.Errorf("%s: on the board as it was before, %+v was recorded", name, got)
		}
	}
}

// leaving is e of an attempt that left the board with the given SHA-256.
func leaving(sha string, e event.Event) event.Event {
	switch e := e.(type) {
	case event.ReplyAccepted:
		e.Left = sha
		return e
	case event.ReplyRejected:
		e.Left = sha
		return e
	case event.AttemptStopped:
		e.Left = sha
		return e
	case event.ReviewHeld:
		e.Left = sha
		return e
	}
	panic(e.Kind() + " leaves no board")
}

// TestReopen: what a new run closes of a step whose board, input or task is another by now.
func TestReopen(t *testing.T) {
	managing := []event.Event{start, one, attempt(1, event.TaskCall, 1), tasked}
	left := rejection(1, event.ManagerCall, 1)
	left.Left = "b"
	restarted := func(sha, reason string) event.Event {
		return event.CallRestarted{Step: 1, Task: "t1", BoardSHA: sha, Reason: reason}
	}
	abandoned := func(reason string) event.Event { return event.StepAbandoned{Step: 1, Task: "t1", Reason: reason} }
	names2 := event.StepAbandoned{Step: 1, Task: "t1", Reason: "the board now names t2", Named: "t2"}
	crashed := event.AttemptStopped{AttemptRef: ref(event.ManagerCall, 1, 0), Reason: died}
	same, gone := flow.Board{Task: "t1", Role: "Implementor"}, flow.Board{Task: "t2", Role: "Implementor"}
	reviewing := newPlay(t, &event.Plan{Rounds: 1}, event.Limits{}).attempts(accepted).events
	tests := []struct {
		name   string
		events []event.Event
		board  flow.Board // with its bytes' SHA-256
		want   []event.Event
	}{
		{"no step is open", []event.Event{start}, gone, nil},
		{"a step that was never begun, on another board", []event.Event{start, one}, flow.Board{Task: "t1", Role: "Implementor", SHA: "z"}, nil},
		{"a step that began while there was no board", []event.Event{start, event.StepStarted{Step: 1, Task: "t1", Role: "Implementor"}},
			flow.Board{Task: "t1", Role: "Implementor", SHA: "z"}, []event.Event{restarted("z", edited)}},
		{"a crash, and then the same", append(managing[:4:4], attempt(1, event.ManagerCall, 1)), same, []event.Event{crashed}},
		{"the Manager moved the board", append(managing[:4:4], attempt(1, event.ManagerCall, 1), left), flow.Board{Task: "t2", SHA: "b"}, nil},
		{"a person moved it after the Manager", append(managing[:4:4], attempt(1, event.ManagerCall, 1), left), flow.Board{Task: "t2", SHA: "z"},
			[]event.Event{restarted("z", edited), names2}},
		{"an accepted reply of the Manager stands on any board", append(managing[:4:4], attempt(1, event.ManagerCall, 1), managed), flow.Board{Task: "t2", SHA: "z"}, nil},
		{"the board names another task before the Manager's call", managing, gone, []event.Event{names2}},
		{"and another role, which is the Manager's affair by then", managing, flow.Board{Task: "t1", Role: "Architect"}, nil},
		{"another role while its work is reviewed", reviewing, flow.Board{Task: "t1", Role: "Architect", SHA: "a"}, []event.Event{abandoned("t1 is now a task for Architect")}},
		{"another task while its work is reviewed", reviewing, flow.Board{Task: "t2", Role: "Implementor", SHA: "a"}, []event.Event{names2}},
		{"completed by hand while its work is reviewed", reviewing, flow.Board{Terminal: true, SHA: "a"}, []event.Event{abandoned("the board was completed by hand")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &play{t: t, State: after(t, tt.events...), board: tt.board}
			got := p.reopen(tt.board.SHA)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("recorded: -want +got\n%s", diff)
			}
			for _, e := range got {
				if _, ok := e.(event.StepAbandoned); ok && p.Step != nil {
					t.Errorf("step = %+v, want none after %s", p.Step, e.Kind())
				}
			}
		})
	}
}

// TestAcknowledgedStep: "An acknowledged board is right as it stands": the open call starts
// afresh on it, in every phase.
func TestAcknowledgedStep(t *testing.T) {
	for _, tt := range []struct {
		outcomes []outcome
		want     flow.Effect
	}{
		{[]outcome{rejected}, fresh(event.TaskCall, 1)},
		{[]outcome{accepted, rejected}, review(3, 1, "task-1")},
		{[]outcome{accepted, notContent, rejected}, sentBack(4, 2, "task-1")},
		{[]outcome{accepted, content, rejected}, fresh(event.ManagerCall, 2)},
	} {
		p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(tt.outcomes...)
		p.record(event.StateDiverged{Source: event.SourceBoard, After: "y", Policy: "freeze", Text: "changed"}, event.Acknowledged{About: event.AboutFile, Choice: event.Accept, BoardSHA: "z"})
		if s := p.Step; s.BoardSHA != "z" || s.Left != "" || s.Input != nil || s.Before != nil || s.Rejected != 0 {
			t.Errorf("step = %+v, want a new series of attempts on the acknowledged board", s)
		}
		if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
			t.Errorf("Next: -want +got\n%s", diff)
		}
	}
}

// TestReopenFails: "Errors are returned or handled, never logged and passed over" (DESIGN, 7.7).
func TestReopenFails(t *testing.T) {
	broken := errors.New("no space left on device")
	view := func() (flow.Board, error) { return flow.Board{Task: "t2"}, nil }
	open := after(t, start, one, attempt(1, event.TaskCall, 1))
	if err := closeAndReopen(&open, flow.Board{SHA: "a"}, view, func(event.Event) error { return broken }); err != broken {
		t.Errorf("with a journal that cannot be written: %v", err)
	}
	recorded := 0
	closed := after(t, start, one)
	count := func(event.Event) error { recorded++; return nil }
	if err := closeAndReopen(&closed, flow.Board{SHA: "a"}, func() (flow.Board, error) { return flow.Board{}, broken }, count); err != broken || recorded != 0 {
		t.Errorf("with a board that cannot be read: %v, and %d events", err, recorded)
	}
	if err := closeAndReopen(&closed, flow.Board{SHA: "a"}, view, func(event.Event) error { return broken }); err != broken {
		t.Errorf("with a step that cannot be closed: %v", err)
	}
}

// TestRestartIsRefused: a call starts afresh only where one is due and none of its attempts runs.
func TestRestartIsRefused(t *testing.T) {
	e := event.CallRestarted{Step: 1, Task: "t1", BoardSHA: "z"}
	for name, events := range map[string][]event.Event{
		"no step is open":                  {start},
		"another step is open":             append([]event.Event{start}, append(stepOf(1, "t1", 1, 1), event.StepStarted{Step: 2, Task: "t1"})...),
		"an attempt is running":            {start, one, attempt(1, event.TaskCall, 1)},
		"the Manager's reply was accepted": {start, one, attempt(1, event.TaskCall, 1), tasked, attempt(1, event.ManagerCall, 1), managed},
	} {
		refused(t, name, after(t, events...), e)
	}
}

// TestManagersWriteIsNoEdit: a Manager that moved the board before its run died is asked again: what
// it wrote is not taken for the edit of a person, which would give the step up.
func TestManagersWriteIsNoEdit(t *testing.T) {
	for name, b := range map[string]flow.Board{"moved on": {Task: "t2", Role: "Implementor", SHA: "z"}, "ended": {Terminal: true, SHA: "z"}} {
		s := after(t, start, one, attempt(1, event.TaskCall, 1), tasked, attempt(1, event.ManagerCall, 1))
		var kinds []string
		err := closeAndReopen(&s, flow.Board{SHA: b.SHA}, func() (flow.Board, error) { return b, nil }, func(e event.Event) error {
			kinds = append(kinds, e.Kind())
			return s.Apply(e)
		})
		if err != nil || strings.Join(kinds, " ") != "ATTEMPT_STOPPED" {
			t.Errorf("%s: a new run says %v, %v, want only that the attempt died", name, kinds, err)
		}
		if e, ok := flow.Next(&s, b).(flow.Spawn); !ok || e.Call != event.ManagerCall {
			t.Errorf("%s: Next = %+v, want the Manager to be asked again", name, e)
		}
	}
}

// TestFrozenFile: a board whose file was changed waits for its Lead, with the exit of its kind, and
// whichever bytes the Lead lets stand, the board has not ended by that.
func TestFrozenFile(t *testing.T) {
	for policy, want := range map[string]event.Outcome{event.PolicyAccept: "", event.PolicyRestore: "", event.PolicyFreeze: event.Frozen, event.PolicyAsk: event.NeedsPerson} {
		for _, choice := range []event.Choice{"", event.Accept, event.Retry} {
			s := flow.State{}
			for _, e := range []event.Event{start, one, event.StateDiverged{Source: event.SourceBoard, Step: 1, Task: "t1", Before: "a", After: "b", Policy: policy, Text: "why"}} {
				if err := s.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
			end, _ := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor", SHA: "b"}).(flow.Finish)
			if end.Outcome != want {
				t.Errorf("%s: the run ends with %q, want %q", policy, end.Outcome, want)
			}
			if err := s.Apply(event.Acknowledged{About: event.AboutFile, BoardSHA: "c", Choice: choice, Text: "you decided"}); (err != nil) != (want == "") {
				t.Fatal(err)
			}
			call, _ := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor", SHA: "c"}).(flow.Spawn)
			if policy == event.PolicyAsk && choice == "" {
				if s.Frozen == nil {
					t.Error("what is decided without a choice ends the question")
				}
				continue
			}
			if want != "" && (call.Task != "t1" || s.Outcome == event.Complete || s.Last.Accepted != "" || s.Step.BoardSHA != "c") {
				t.Errorf("%s, then %q: %+v is next, outcome %q, accepted %q", policy, choice, call, s.Outcome, s.Last.Accepted)
			}
		}
	}
}

// closeAndReopen is what a run does about an earlier one, where the end of the board is the same.
func closeAndReopen(s *flow.State, b flow.Board, view func() (flow.Board, error), record func(event.Event) error) error {
	if _, err := flow.CloseAttempt(s, record); err != nil {
		return err
	}
	return flow.Reopen(s, b, view, record)
}
