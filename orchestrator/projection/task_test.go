package projection

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// work journals a step that begins with a rejected reply; dropped are the tasks that the Manager then
// takes off the list.
func (b *book) work(step int, task, status string, dropped ...string) {
	ref := func(call event.Call, attempt int) event.AttemptRef {
		return event.AttemptRef{Step: step, Task: task, Role: "Implementor", Call: call, Attempt: attempt}
	}
	input := json.RawMessage("{}")
	b.begin(step, task)
	b.write(event.AttemptStarted{AttemptRef: ref(event.TaskCall, 1), Input: input},
		event.ReplyRejected{AttemptRef: ref(event.TaskCall, 1), End: event.End{Millis: 5}},
		event.AttemptStarted{AttemptRef: ref(event.TaskCall, 2)},
		event.ReplyAccepted{AttemptRef: ref(event.TaskCall, 2), Status: status, Message: "m",
			End: event.End{Millis: 10}},
		event.AttemptStarted{AttemptRef: ref(event.ManagerCall, 1), Input: input},
		event.ReplyAccepted{AttemptRef: ref(event.ManagerCall, 1), Status: "ok",
			End: event.End{Millis: 100}},
		event.StepFinished{Step: step, Task: task, Status: status, Manager: "ok", Dropped: dropped})
}

func (b *book) begin(step int, task string) {
	b.write(event.StepStarted{Step: step, Task: task, Role: "Implementor"})
}

// TestTasks: the states of a board's tasks, by what was journaled of them, by the board's marks and by
// their headers.
func TestTasks(t *testing.T) {
	b := &book{t: t}
	facts := Facts{List: listOf(t, "current: d.md\ntasks: [z.md, a.md, b.md, c.md, d.md, 'e.md [done]', f.md, g.md, h.md]\n", "h.md")}
	b.write(event.RunStarted{DoneBefore: []string{"z.md"}})
	b.work(1, "a.md", "ok")
	b.work(2, "b.md", "blocked")
	if n := b.fold.LastStep().Rejections(); n != 1 {
		t.Errorf("%d rejected replies in the last step", n)
	}
	b.begin(3, "c.md")
	b.write(event.StepAbandoned{Step: 3, Task: "c.md"}, event.LoopSuspected{Task: "f.md", Told: true})
	b.work(4, "gone.md", "ok", "dropped.md", "a.md")
	states := func(current string) string {
		facts.Current = current
		var all []string
		for _, task := range b.board(facts).Tasks {
			all = append(all, fmt.Sprint(task.Task, " ", task.State))
		}
		return strings.Join(all, ", ")
	}
	const before, behind = "z.md done_before, a.md done, b.md not_ok, c.md waiting, ", ", h.md done, dropped.md dropped, gone.md done"
	if got, want := states("d.md"), before+"d.md next, e.md done, f.md quarantined, g.md waiting"+behind; got != want {
		t.Errorf("%s", got)
	}
	b.begin(5, "g.md")
	if got, want := states("d.md"), before+"d.md waiting, e.md done, f.md quarantined, g.md stopped"+behind; got != want {
		t.Errorf("with an open step: %s", got)
	}
	facts.Owned = true
	if got, want := states("d.md"), before+"d.md waiting, e.md done, f.md quarantined, g.md working"+behind; got != want {
		t.Errorf("at work: %s", got)
	}
	facts.Owned = false
	b.write(event.StepAbandoned{Step: 5}, event.QuarantineEnded{Task: "f.md"})
	if got, want := states(""), before+"d.md waiting, e.md done, f.md waiting, g.md waiting"+behind; got != want {
		t.Errorf("after the end of the quarantine, on a board that is over: %s", got)
	}
	board := b.board(facts)
	if a := board.Tasks[1]; a.Tries != 2 || a.Used.Millis != 15 || a.Role != "Implementor" || a.Said != "" {
		t.Errorf("%+v", a)
	}
	if b := board.Tasks[2]; b.Status != "blocked" || b.Said != "m" {
		t.Errorf("%+v", b)
	}
	if gone := board.TaskOf("gone.md"); gone == nil || gone.Left != "taken_off" || gone.Counts() {
		t.Errorf("a task that was done when it left the list: %+v", gone)
	}
	if dropped := board.TaskOf("dropped.md"); dropped == nil || dropped.Left != Dropped || !dropped.Counts() {
		t.Errorf("a task that the Manager dropped: %+v", dropped)
	}
	if done, of, left := board.Count(Done, DoneBefore), board.Of(), board.Left(); done != 4 || of != 10 || left != 6 {
		t.Errorf("%d of %d tasks are done, %d are left; want 4 of 10 and 6", done, of, left)
	}
}

// TestFirstTask: what holds of a task holds of the first on the list, too. A task in quarantine goes to
// the Manager, and keeps the role that worked on it.
func TestFirstTask(t *testing.T) {
	list := listOf(t, "tasks: [a.md]\n")
	for name, tt := range map[string]struct {
		state flow.State
		want  TaskState
	}{
		"current":     {flow.State{Step: &flow.Step{Task: "a.md"}}, StoppedAt},
		"quarantined": {flow.State{Quarantine: []flow.Quarantine{{Task: "a.md"}}}, Quarantined},
		"put back":    {flow.State{Dropped: []string{"a.md"}}, Waiting},
		"done":        {flow.State{Statuses: []flow.TaskStatus{{Task: "a.md", Status: "ok"}}}, Done},
	} {
		var events []event.Event
		for _, role := range []string{"Implementor", event.ManagerRole} {
			events = append(events, event.StepStarted{Task: "a.md", Role: role})
		}
		got := show(tt.state, Facts{List: list}, events...).Tasks
		if len(got) != 1 || got[0].State != tt.want || got[0].Role != "Implementor" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := show(flow.State{}, Facts{List: list}, event.StepStarted{Task: "a.md", Role: event.ManagerRole}).Tasks
	if got[0].Role != event.ManagerRole {
		t.Errorf("a task of the Manager's own: %+v", got)
	}
}

// TestNoCurrentTask: of a board that has ended no task is current, and none of a list that lacks the
// current one.
func TestNoCurrentTask(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	for current, s := range map[string]flow.State{"": {}, "gone.md": {}, "a.md": {Step: &flow.Step{Task: "gone.md"}}} {
		for _, task := range show(s, Facts{List: list, Current: current}).Tasks {
			if task.State != Waiting {
				t.Errorf("%s: %s is %s", current, task.Task, task.State)
			}
		}
	}
}

// TestTaskStates: each state of a task once, with who has to act before it is done.
func TestTaskStates(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	over := flow.Board{Terminal: true, SHA: "s"}
	step := func(call event.Call, status string) *flow.Step {
		return &flow.Step{Number: 1, Task: "a.md", Role: "R", Call: call, TaskStatus: status}
	}
	is := func(o event.Outcome, text string, s flow.State) flow.State {
		s.Outcome, s.Text, s.Spent, s.Workdir = o, text, true, "/w"
		return s
	}
	statuses := func(status string) flow.State {
		return flow.State{Statuses: []flow.TaskStatus{{Task: "a.md", Status: status}}}
	}
	aside := func(status string) flow.State {
		s := statuses(status)
		s.Aside = []flow.Aside{{Task: "a.md", Status: status}}
		return s
	}
	tried := []event.Event{event.StepStarted{Step: 1, Task: "a.md", Role: "R"}}
	lost := []event.Event{event.StepStarted{Step: 1, Task: "old.md", Role: "R"}}
	for name, tt := range map[string]struct {
		state  flow.State
		facts  Facts
		events []event.Event
		task   string
		want   TaskState
		who    Who
	}{
		"ok":                       {is(event.LimitReached, "$5", statuses("ok")), Facts{Current: "b.md"}, tried, "a.md", Done, Nobody},
		"accepted":                 {is(event.LimitReached, "$5", statuses(flow.StatusAccepted)), Facts{Current: "b.md"}, tried, "a.md", Done, Nobody},
		"before":                   {is(event.LimitReached, "$5", statuses(flow.StatusBefore)), Facts{Current: "b.md"}, nil, "a.md", DoneBefore, Nobody},
		"skipped":                  {is(event.Complete, "", statuses(flow.StatusSkipped)), Facts{Board: over}, tried, "a.md", Settled, Nobody},
		"not ok":                   {stateOn(list, event.Incomplete, "", "blocked"), Facts{Board: over}, tried, "a.md", NotOK, Decide},
		"the run ended at it":      {is(event.Exhausted, "no JSON", flow.State{Step: step(event.TaskCall, "")}), Facts{Current: "a.md"}, tried, "a.md", NotOK, Decide},
		"blocked, then a limit":    {is(event.LimitReached, "$5", flow.State{Step: step(event.ManagerCall, "blocked")}), Facts{Current: "a.md"}, tried, "a.md", NotOK, RunAgain},
		"set aside":                {is(event.Incomplete, "blocked", aside("blocked")), Facts{Current: "a.md"}, tried, "a.md", SetAside, Decide},
		"set aside at a limit":     {is(event.LimitReached, "$1", aside(flow.StatusLimit)), Facts{Current: "a.md"}, tried, "a.md", SetAside, RunAgain},
		"quarantined":              {is(event.NeedsPerson, "loop", flow.State{Quarantine: []flow.Quarantine{{Task: "a.md", Text: "round"}}}), Facts{Current: "a.md"}, tried, "a.md", Quarantined, Decide},
		"at work":                  {flow.State{Running: true, Step: step(event.TaskCall, "")}, Facts{Owned: true, Current: "a.md"}, tried, "a.md", Working, Nobody},
		"the Manager behind it":    {flow.State{Running: true, Step: step(event.ManagerCall, "ok")}, Facts{Owned: true, Current: "a.md"}, tried, "a.md", Working, Nobody},
		"in review":                {flow.State{Running: true, Step: step(event.ReviewCall, "")}, Facts{Owned: true, Current: "a.md"}, tried, "a.md", InReview, Nobody},
		"a command reviews":        {flow.State{Running: true, Step: step(event.CommandCall, "")}, Facts{Owned: true, Current: "a.md"}, tried, "a.md", InReview, Nobody},
		"a signal":                 {is(event.Interrupted, "SIGTERM", flow.State{Step: step(event.TaskCall, "")}), Facts{Current: "a.md"}, tried, "a.md", StoppedAt, RunAgain},
		"killed":                   {is("", "", flow.State{Step: step(event.TaskCall, "")}), Facts{Current: "a.md"}, tried, "a.md", StoppedAt, RunAgain},
		"next":                     {is(event.LimitReached, "$5", statuses("ok")), Facts{Current: "b.md"}, tried, "b.md", NextUp, RunAgain},
		"next, at work":            {flow.State{Running: true}, Facts{Owned: true, Current: "b.md"}, nil, "b.md", NextUp, Nobody},
		"next, never run":          {flow.State{}, Facts{Never: true, Current: "a.md"}, nil, "a.md", NextUp, Nobody},
		"waiting":                  {is(event.LimitReached, "$5", flow.State{Step: step(event.TaskCall, "")}), Facts{Current: "a.md"}, tried, "b.md", Waiting, RunAgain},
		"waiting, behind a person": {is(event.NeedsPerson, "stuck", flow.State{Step: step(event.TaskCall, "")}), Facts{Current: "a.md"}, tried, "b.md", Waiting, Decide},
		"dropped":                  {is(event.Incomplete, "", flow.State{Dropped: []string{"old.md"}, Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}}), Facts{Board: over}, lost, "old.md", Dropped, Decide},
		"replaced":                 {is(event.LimitReached, "$5", flow.State{}), Facts{Current: "a.md"}, lost, "old.md", Replaced, Nobody},
	} {
		tt.facts.List = list
		b := show(tt.state, tt.facts, tt.events...)
		task := b.TaskOf(tt.task)
		if task == nil || task.State != tt.want || task.Who != tt.who {
			t.Errorf("%s: the task is %+v, want %s, %s (the board: %s, %s)", name, task, tt.want, tt.who, b.Outcome, b.Who)
		}
	}
}

// TestWhyNotDone: a task that is not done says why, and one that is done says nothing
// (DESIGN, "why it is not done").
func TestWhyNotDone(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	aside := event.TaskSetAside{Step: 1, Task: "a.md", Role: "R", Status: "stuck", Reason: "it hung"}
	tried := []event.Event{event.StepStarted{Step: 1, Task: "a.md", Role: "R"}}
	open := flow.State{Outcome: event.NeedsPerson, Text: "stuck", Spent: true, Step: &flow.Step{Task: "a.md", Call: event.TaskCall}}
	running := stateOn(list, "", "", "blocked")
	running.Running, running.Step = true, &flow.Step{Number: 2, Task: "b.md", Call: event.TaskCall}
	for name, tt := range map[string]struct {
		state  flow.State
		facts  Facts
		events []event.Event
		task   string
		want   string
	}{
		"set aside": {flow.State{Outcome: event.Incomplete, Spent: true, Aside: []flow.Aside{{Task: "a.md", Status: "stuck", Text: "it hung"}}},
			Facts{Current: "a.md"}, append(tried, aside), "a.md", "it hung"},
		"set aside, then ok": {stateOn(list, event.LimitReached, "$5", "ok"), Facts{Current: "b.md"}, append(tried, aside), "a.md", ""},
		"quarantined": {flow.State{Outcome: event.NeedsPerson, Text: "named again", Spent: true, Quarantine: []flow.Quarantine{{Task: "a.md", Text: "round"}}},
			Facts{Current: "a.md"}, tried, "a.md", "round"},
		"the run ended at it": {open, Facts{Current: "a.md"}, tried, "a.md", "stuck"},
		"never worked on":     {open, Facts{Current: "a.md"}, tried, "b.md", ""},
		"dropped": {flow.State{Outcome: event.Incomplete, Spent: true, Dropped: []string{"old.md"}, Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}},
			Facts{Board: flow.Board{Terminal: true, SHA: "s"}}, nil, "old.md", "taken off the list undone"},
		// The run is at work on the other task, which says nothing about this one.
		"not ok before": {running, Facts{Owned: true, Current: "b.md"}, append(tried, event.ReplyAccepted{AttemptRef: work, Status: "blocked", Message: "no key"}), "a.md", "R replied blocked: no key"},
	} {
		tt.facts.List = list
		b := show(tt.state, tt.facts, tt.events...)
		if task := b.TaskOf(tt.task); task == nil || task.Why != tt.want {
			t.Errorf("%s: the task is %+v, want why %q", name, task, tt.want)
		}
	}
}

// TestCheckpointIsNoTask: what the resident supervisor looks at is no task of the board (seed 001).
func TestCheckpointIsNoTask(t *testing.T) {
	list := listOf(t, "tasks: [a.md]\n")
	look := event.AttemptRef{Step: 2, Call: event.CheckpointCall, Task: "CHECKPOINT-001", Role: "Supervisor", Attempt: 1}
	ready := event.AttemptRef{Step: 3, Call: event.ReadyCall, Task: "Supervisor", Role: "Supervisor", Attempt: 1}
	b := show(stateOn(list, event.Complete, flow.CompleteText, "ok"), Facts{List: list, Board: flow.Board{Terminal: true, SHA: "s"}},
		event.StepStarted{Step: 2, Task: look.Task, Role: "Supervisor", Call: look.Call, Checkpoint: &event.Checkpoint{ID: look.Task}},
		event.AttemptStarted{AttemptRef: look}, event.CheckpointHeld{AttemptRef: look, Data: event.StateUpdate{ID: look.Task, Verdict: "pass"}},
		event.StepStarted{Step: 3, Task: ready.Task, Role: "Supervisor", Call: ready.Call},
		event.AttemptStarted{AttemptRef: ready}, event.ReplyAccepted{AttemptRef: ready, Status: "ok"})
	if len(b.Tasks) != 1 || b.Tasks[0].Task != "a.md" {
		t.Errorf("the tasks are %+v", b.Tasks)
	}
}

// TestUndoneAndFailed: undone are the tasks that were never worked on or dropped, failed those that
// were worked on and are not ok.
func TestUndoneAndFailed(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md, c.md, d.md, e.md]\n")
	s := stateOn(list, event.Incomplete, "", "ok", "blocked")
	s.Aside = []flow.Aside{{Task: "c.md", Status: "stuck"}}
	s.Statuses = append(s.Statuses, flow.TaskStatus{Task: "c.md", Status: "stuck"})
	s.Quarantine = []flow.Quarantine{{Task: "d.md"}}
	s.Dropped = []string{"z.md"}
	b := show(s, Facts{List: list, Current: "c.md"})
	if got, want := fmt.Sprint(b.Undone, b.Failed), "[e.md z.md] [b.md c.md d.md]"; got != want {
		t.Errorf("undone and failed: %s, want %s", got, want)
	}
	begun := flow.State{Outcome: event.LimitReached, Step: &flow.Step{Task: "a.md", Call: event.TaskCall}}
	next := Facts{List: list, Current: "a.md"}
	if b := show(begun, next); fmt.Sprint(b.Undone, b.Failed) != "[b.md c.md d.md e.md] []" {
		t.Errorf("stopped at a task: undone %v, failed %v", b.Undone, b.Failed)
	}
	if b := show(flow.State{Outcome: event.LimitReached}, next); fmt.Sprint(b.Undone, b.Failed) != "[a.md b.md c.md d.md e.md] []" {
		t.Errorf("before a task: undone %v, failed %v", b.Undone, b.Failed)
	}
}
