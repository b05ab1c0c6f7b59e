package flow_test

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// decline has the provider decline the next attempt.
func (p *provider) decline(reason string) {
	p.Helper()
	apply(p.T, &p.state, event.ReplyRejected{AttemptRef: p.spawn(), Reason: reason, End: event.End{Class: event.ClassDeclined, Session: "s1", Worked: true}})
}

// TestDeclined: design of the classes: what the provider's safeguards refuse is not tried again by the same
// agent. The next one of the settings gets it, and then a person decides, after whom it is tried again.
func TestDeclined(t *testing.T) {
	begin := event.RunStarted{Limits: patient, Reassign: []event.Substitutes{{Role: "implementor", Agents: []string{"codex"}}}}
	p := refusing(t, patient, begin.Reassign...)
	p.decline("safeguards flagged this")
	e, ok := flow.Next(&p.state, p.board).(flow.Reassign)
	if !ok || e.To != "codex" || p.state.Step.Rejected != 0 {
		t.Fatalf("Next = %+v after %d retries, want codex to take over", flow.Next(&p.state, p.board), p.state.Step.Rejected)
	}
	apply(t, &p.state, event.Reassigned{Step: 1, Task: "t1", Call: event.TaskCall, Number: e.Number, To: e.To})
	p.decline("content policy")
	want := "the provider of Implementor declines t1, and would again: content policy"
	end, ok := flow.Next(&p.state, p.board).(flow.Finish)
	if !ok || end.Outcome != event.NeedsPerson || end.Text != want {
		t.Fatalf("Next = %+v, want a person: %s", flow.Next(&p.state, p.board), want)
	}
	if p.state.Proposal(end) == nil {
		t.Error("no other agent is proposed")
	}
	apply(t, &p.state, event.RunFinished{Outcome: end.Outcome, Text: end.Text}, begin)
	if e, ok := flow.Next(&p.state, p.board).(flow.Spawn); !ok || e.GoesOn || e.From != "" {
		t.Errorf("Next = %+v, want the call afresh in the next run", flow.Next(&p.state, p.board))
	}
}

// TestTooLongTwice: design of the classes: a session that is too long although the call has begun afresh is
// declined. The next run may begin afresh once more.
func TestTooLongTwice(t *testing.T) {
	p := refusing(t, patient)
	for _, want := range []event.Class{event.ClassTooLong, event.ClassDeclined} {
		ref := p.spawn()
		if got := p.state.Step.ClassOf(event.ClassTooLong); got != want {
			t.Fatalf("ClassOf(too_long) = %s, want %s", got, want)
		}
		apply(t, &p.state, event.ReplyRejected{AttemptRef: ref, Reason: "Prompt is too long", End: event.End{Class: want}})
	}
	if e, ok := flow.Next(&p.state, p.board).(flow.Finish); !ok || e.Outcome != event.NeedsPerson || !strings.Contains(e.Text, "too long") {
		t.Errorf("Next = %+v, want a person", flow.Next(&p.state, p.board))
	}
	apply(t, &p.state, event.RunFinished{Outcome: event.NeedsPerson}, event.RunStarted{Limits: patient})
	if !p.state.Step.StartsAfresh(event.ClassTooLong) {
		t.Error("the next run does not begin afresh once")
	}
}

// TestGivesUp: design of the classes: the session of accepted work is given up after two attempts in it that did
// nothing, whatever they said. One that was cut off, or did something, says nothing about its session.
func TestGivesUp(t *testing.T) {
	fruitless := func(r event.AttemptRef) event.Event {
		return event.ReplyRejected{AttemptRef: r, Reason: "400", End: event.End{Class: event.ClassFormat}}
	}
	worked := func(r event.AttemptRef) event.Event {
		return event.ReplyRejected{AttemptRef: r, Reason: "prose", End: event.End{Class: event.ClassFormat, Worked: true}}
	}
	for _, tt := range []struct {
		name   string
		before []outcome
		class  event.Class
		worked bool
		want   bool
	}{
		{"once", nil, event.ClassFormat, false, false},
		{"twice", []outcome{fruitless}, event.ClassFormat, false, true},
		{"twice, the second with work", []outcome{fruitless}, event.ClassFormat, true, false},
		{"twice, with work in between", []outcome{fruitless, worked}, event.ClassFormat, false, false},
		{"once, and cut off", []outcome{fruitless}, event.ClassCut, false, false},
	} {
		for call, first := range map[string][]outcome{"review": {accepted}, "round": {accepted, notContent}} {
			t.Run(call+" "+tt.name, func(t *testing.T) {
				p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(append(first, tt.before...)...)
				from, want := p.next().(flow.Spawn).From, tt.want && call == "round" // accepted work is not done again for its reviewer
				if got := p.GivesUp(from, tt.class, tt.worked); got != want || from == "" {
					t.Errorf("GivesUp(%q, %s, %t) = %t, want %t", from, tt.class, tt.worked, got, want)
				}
			})
		}
	}
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("s1").finish("t1", "ok")
	s.apply(fruitless(s.begin().AttemptRef))
	e := s.begin()
	if !s.GivesUp(e.From, event.ClassFormat, false) {
		t.Errorf("the supervisor's session %q is not given up", e.From)
	}
	s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "400", Lost: true}).ready("s2")
	s.apply(fruitless(s.begin().AttemptRef))
	if e = s.begin(); e.From != "s2" || s.GivesUp(e.From, event.ClassFormat, false) {
		t.Errorf("the supervisor's session %q is given up once more", e.From)
	}
}
