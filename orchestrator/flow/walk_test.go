package flow_test

import (
	"reflect"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestWalk: where walk is the Manager, its call starts no program, and its decision stands for the
// reply. Elsewhere the Manager is a program.
func TestWalk(t *testing.T) {
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "b1"}
	begin := start
	begin.Manager = event.Walker
	s := after(t, begin, one, attempt(1, event.TaskCall, 1), tasked)
	e, ok := flow.Next(&s, board).(flow.Walk)
	if !ok || e.Spawn.Call != event.ManagerCall || e.Spawn.Step != 1 {
		t.Fatalf("Next = %+v, want walk to be asked", flow.Next(&s, board))
	}
	decided := event.ManagerWalked{Step: 1, Task: "t1", Status: "ok", Message: "on", NextTask: ptr("t2"), Before: "b1", Current: "t1", After: "b2"}
	apply(t, &s, decided)
	if step := s.Step; !reflect.DeepEqual(*step.Walked, decided) || step.Before.BoardSHA != "b1" || step.Before.Current != "t1" || step.Reply == nil || *step.Reply.NextTask != "t2" {
		t.Errorf("the step is %+v", step)
	}
	if e, ok := flow.Next(&s, board).(flow.WriteBoard); !ok {
		t.Errorf("Next = %+v behind the decision, want it to be written", e)
	}
	anew := decided
	anew.Before, anew.NextTask = "b3", nil
	if err := s.Apply(anew); err != nil || s.Step.Before.BoardSHA != "b3" || s.Step.Reply.NextTask != nil {
		t.Errorf("deciding anew = %v, the step is %+v", err, s.Step)
	}
	other := after(t, start, one, attempt(1, event.TaskCall, 1), tasked)
	if e, ok := flow.Next(&other, board).(flow.Spawn); !ok || e.Call != event.ManagerCall {
		t.Errorf("Next = %+v, want a program to be the Manager", e)
	}
}

// TestWalkIsRefused: a decision is only made where a Manager's reply is due and nobody else gives one.
func TestWalkIsRefused(t *testing.T) {
	decided := event.ManagerWalked{Step: 1, Task: "t1", Status: "ok"}
	due := []event.Event{start, one, attempt(1, event.TaskCall, 1), tasked}
	second := decided
	second.Step = 2
	for name, c := range map[string]struct {
		before []event.Event
		event  event.ManagerWalked
	}{
		"without a step":             {[]event.Event{start}, decided},
		"of another step":            {due, second},
		"before the work":            {[]event.Event{start, one}, decided},
		"while the Manager runs":     {append(due[:4:4], attempt(1, event.ManagerCall, 1)), decided},
		"behind the Manager's reply": {append(due[:4:4], attempt(1, event.ManagerCall, 1), managed), decided},
	} {
		s := after(t, c.before...)
		if err := s.Apply(c.event); err == nil {
			t.Errorf("%s: the decision was taken", name)
		}
	}
}
