package flow_test

import (
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestRemarks: a board bears the remark that the command which accepted a task was changed before, over later runs, as
// long as that acceptance is the task's last.
func TestRemarks(t *testing.T) {
	const changed = "check.sh changed while t1 was worked on"
	work := attempt(1, event.TaskCall, 1)
	work.Plan = &event.Plan{Command: true, Rounds: 1}
	look := attempt(1, event.CommandCall, 2)
	look.Input = work.Input
	s := after(t, start, event.StepStarted{Step: 1, Task: "t1", Role: "Implementor"}, work,
		event.ReplyAccepted{AttemptRef: work.AttemptRef, Status: "ok"}, look,
		event.ReviewHeld{AttemptRef: look.AttemptRef, Completed: true, Command: "./check.sh", Changed: changed})
	want := flow.CompleteText + "; t1 was accepted by ./check.sh: " + changed
	ends := func(name, want string) {
		t.Helper()
		if got := flow.End(&s, flow.Board{Terminal: true}); got.Text != want || got.Outcome != event.Complete ||
			(event.Weigh(got.Outcome, got.Remarked) == event.Warning) != (want != flow.CompleteText) {
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
	}
	ends("in this run", want)
	apply(t, &s, event.RunInterrupted{Outcome: event.Interrupted}, start)
	ends("in the next run", want)
	s.Step = nil
	apply(t, &s, event.StepStarted{Step: 2, Task: "t2", Role: "Implementor"})
	ends("at work on another task", want)
	s.Step = nil
	apply(t, &s, event.StepStarted{Step: 3, Task: "t1", Role: "Implementor"})
	ends("worked on anew", flow.CompleteText)
}

// TestGivenTasks: a task that was given to a role with a secret waits until a person has accepted it or a Manager that
// is a model has had the turn; what waits in the work tree stays.
func TestGivenTasks(t *testing.T) {
	given := event.FilesChanged{Task: "t1", Files: []event.ChangedFile{{By: event.TaskRole, File: "t2", Roles: []string{"Deployer"}, Asks: true}}}
	program := event.FilesChanged{Task: "t1", Files: []event.ChangedFile{{By: event.ProgramFile, File: "a.sh", Asks: true}}}
	work, manages := attempt(1, event.TaskCall, 1), attempt(1, event.ManagerCall, 1)
	manages.Before = &event.Baseline{}
	one := event.StepStarted{Step: 1, Task: "t1", Role: "Implementor"}
	for name, events := range map[string][]event.Event{
		"a person": {event.RunInterrupted{Outcome: event.NeedsPerson, Changed: true}, event.Acknowledged{About: event.AboutChanged, Choice: event.Accept}},
		"a Manager": {one, work, event.ReplyAccepted{AttemptRef: work.AttemptRef, Status: "ok"}, manages,
			event.ReplyAccepted{AttemptRef: manages.AttemptRef, Status: "ok"}},
	} {
		s := after(t, start, given, program)
		if len(s.Changed) != 2 {
			t.Fatalf("%s: %+v", name, s.Changed)
		}
		apply(t, &s, events...)
		if len(s.Changed) != 1 || s.Changed[0].By != event.ProgramFile || s.AsksOf {
			t.Errorf("%s: %+v, asks: %v", name, s.Changed, s.AsksOf)
		}
	}
}
