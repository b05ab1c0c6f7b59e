package flow_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestAgentsWords: the reason for which a task is set aside, and the end without a valid reply, have the last words of the
// agents of the step, also of those of an earlier run; those of a finished step count no more.
func TestAgentsWords(t *testing.T) {
	work := attempt(1, event.TaskCall, 1)
	again := attempt(1, event.TaskCall, 2)
	rejected := event.ReplyRejected{AttemptRef: work.AttemptRef, Reason: "no JSON", Exit: "exit status 0", Stderr: "at x\nno key\n"}
	crashed := rejected
	crashed.Reason, crashed.Exit = "exit status 1", "exit status 1"
	managerCrashed := event.ReplyRejected{AttemptRef: attempt(1, event.ManagerCall, 1).AttemptRef, Reason: "exit status 3", Exit: "exit status 3", Stderr: "quota db locked"}
	blocked := event.ReplyAccepted{AttemptRef: again.AttemptRef, Status: "blocked", Message: "the database refuses me"}
	walks := event.RunStarted{Manager: event.Walker, KeepGoing: true}
	stops := event.RunStarted{Manager: event.Walker}
	retries := walks
	retries.Limits.MaxRetries = 3
	for name, tt := range map[string]struct {
		events []event.Event
		want   string
	}{
		"its stderr, where no reply was valid":          {[]event.Event{walks, one, work, rejected}, "gave no valid reply in 1 attempt for t1; the last was rejected: no JSON; it said on stderr: no key"},
		"the same at the end of the run":                {[]event.Event{stops, one, work, rejected}, "gave no valid reply in 1 attempt for t1; the last was rejected: no JSON; it said on stderr: no key"},
		"the words of a program that fails":             {[]event.Event{stops, one, work, crashed}, "t1 has no valid reply: no key (Implementor gave no valid reply in 1 attempt for t1; the last was rejected: exit status 1)"},
		"a Manager that fails says nothing of the task": {[]event.Event{stops, one, work, event.ReplyAccepted{AttemptRef: work.AttemptRef, Status: "ok", Message: "done"}, attempt(1, event.ManagerCall, 1), managerCrashed}, "the last was rejected: exit status 3; it said on stderr: quota db locked"},
		"its reply, and no stderr before it":            {[]event.Event{retries, one, work, rejected, again, blocked}, "Implementor replied blocked: the database refuses me"},
		"said in an earlier run":                        {[]event.Event{retries, one, work, rejected, again, blocked, event.RunInterrupted{}, retries}, "Implementor replied blocked: the database refuses me"},
	} {
		var s flow.State
		apply(t, &s, tt.events...)
		text := ""
		switch e := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}).(type) {
		case flow.SetAside:
			text = e.Reason
		case flow.Finish:
			text = e.Text
		}
		if !strings.HasSuffix(text, tt.want) {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}

// TestWordsOfAStep: what the agents of a finished step said is not known in the next one, and the Manager's reply is not
// among it.
func TestWordsOfAStep(t *testing.T) {
	work := attempt(1, event.TaskCall, 1)
	manager := attempt(1, event.ManagerCall, 1)
	var s flow.State
	for _, at := range []struct {
		e             event.Event
		said, printed string
	}{
		{event.RunStarted{Manager: "claude"}, "", ""},
		{one, "", ""},
		{work, "", ""},
		{event.ReplyRejected{AttemptRef: work.AttemptRef, Stderr: "no key\n"}, "", "no key"},
		{attempt(1, event.TaskCall, 2), "", "no key"},
		{event.ReplyAccepted{AttemptRef: attempt(1, event.TaskCall, 2).AttemptRef, Status: "ok", Message: "I did it"}, "I did it", ""},
		{event.RunInterrupted{}, "I did it", ""},
		{event.RunStarted{Manager: "claude"}, "I did it", ""},
		{manager, "I did it", ""},
		{event.ReplyAccepted{AttemptRef: manager.AttemptRef, Status: "ok", Message: "next"}, "I did it", ""},
		{event.StepFinished{Step: 1, Task: "t1", Status: "ok", Manager: "ok"}, "", ""},
		{event.StepStarted{Step: 2, Task: "t2", Role: "Implementor"}, "", ""},
	} {
		var said, printed string
		apply(t, &s, at.e)
		if step := s.Step; step != nil {
			said, printed = step.Said, step.Printed
		}
		if said != at.said || printed != at.printed {
			t.Errorf("after %T: said %q, printed %q, want %q and %q", at.e, said, printed, at.said, at.printed)
		}
	}
}

// TestWordsFirst: where a reply ended the board, the reason begins with task, status and the words of the agent, and the
// machinery is behind them.
func TestWordsFirst(t *testing.T) {
	ended := func(status string, last flow.ManagerReply) flow.State {
		last.Task, last.Status, last.BoardSHA = "a.md", "blocked", "s"
		return flow.State{Last: last, Statuses: []flow.TaskStatus{{Task: "a.md", Status: status}}}
	}
	for want, s := range map[string]flow.State{
		"a.md is blocked: no key (the Manager ended the board)":                                ended("blocked", flow.ManagerReply{Walked: true, Message: "a.md is blocked: no key"}),
		"a.md is blocked: no key (the Manager ended the board with status blocked: I give up)": ended("blocked", flow.ManagerReply{Said: "no key", Message: "I give up"}),
		"nobody wants it (the Manager ended the board with status blocked)":                    ended("ok", flow.ManagerReply{Said: "done", Message: "nobody wants it"}),
		"a.md is in error: no net; b.md is set aside: no sign (the board is incomplete)":       {KeepGoing: true, Manager: event.Walker, Aside: []flow.Aside{{Task: "a.md", Status: "error", Text: "replied error", Words: "no net", Tried: true}, {Task: "b.md", Status: flow.StatusStuck, Text: "no sign", Tried: true}}},
		"a.md has no valid reply: KeyError: dates (the board is incomplete)":                   {KeepGoing: true, Manager: event.Walker, Aside: []flow.Aside{{Task: "a.md", Status: flow.StatusNoReply, Text: "in 4 attempts", Words: "KeyError: dates", Tried: true}}},
	} {
		b := flow.Board{Terminal: len(s.Aside) == 0, SHA: "s", Task: "a.md", Role: "R"}
		if end, ok := flow.Next(&s, b).(flow.Finish); !ok || end.Text != want {
			t.Errorf("%+v, want %q", flow.Next(&s, b), want)
		}
	}
}

// TestSetAside: design of keep_going: what would end the run sets its task aside, where the Manager can name
// another one.
func TestSetAside(t *testing.T) {
	walks := event.RunStarted{Manager: event.Walker, KeepGoing: true}
	model := event.RunStarted{Manager: "claude", KeepGoing: true, Told: true}
	deaf, stops := model, walks
	deaf.Told, stops.KeepGoing = false, false
	work := attempt(1, event.TaskCall, 1)
	replied := func(status string) event.ReplyAccepted {
		return event.ReplyAccepted{AttemptRef: work.AttemptRef, Status: status}
	}
	rejected := event.ReplyRejected{AttemptRef: work.AttemptRef, Reason: "no JSON"}
	stuck := []event.Event{work, event.RebootTested{AttemptRef: work.AttemptRef, Decision: event.Stuck, Text: "no sign"}, event.AttemptStopped{AttemptRef: work.AttemptRef}}
	ownLimit := event.AttemptStopped{AttemptRef: work.AttemptRef, Reason: "claude: max_turns", End: event.End{Class: event.ClassOwnLimit}}
	declined := event.ReplyRejected{AttemptRef: work.AttemptRef, Reason: "safeguards", End: event.End{Class: event.ClassDeclined}}
	costly, dear := walks, walks
	costly.Limits, dear.Limits = event.Limits{MaxRetries: 3, MaxTaskCost: 5}, event.Limits{MaxRetries: 3, MaxCost: 5}
	spends := rejected
	spends.Spent = &event.Spending{Cost: ptr(int64(9))}
	for _, tt := range []struct {
		name   string
		run    event.RunStarted
		events []event.Event
		want   string // the status of the task that is set aside; "": none is
	}{
		{"no valid reply", walks, []event.Event{work, rejected}, flow.StatusNoReply},
		{"no valid reply, with a model", model, []event.Event{work, rejected}, flow.StatusNoReply},
		{"no valid reply, and a Manager that is not told", deaf, []event.Event{work, rejected}, ""},
		{"no valid reply, without keep_going", stops, []event.Event{work, rejected}, ""},
		{"stuck", walks, stuck, flow.StatusStuck},
		{"max_turns of its role", walks, []event.Event{work, ownLimit}, flow.StatusLimit},
		{"max_turns of its role, without keep_going", stops, []event.Event{work, ownLimit}, ""},
		{"declined", walks, []event.Event{work, declined}, flow.StatusDeclined},
		{"declined, with a model", model, []event.Event{work, declined}, flow.StatusDeclined},
		{"declined, without keep_going", stops, []event.Event{work, declined}, ""},
		{"max_task_cost", costly, []event.Event{work, spends}, flow.StatusLimit},
		{"max_cost of the run", dear, []event.Event{work, spends}, ""},
		{"blocked", walks, []event.Event{work, replied("blocked")}, "blocked"},
		{"ok", walks, []event.Event{work, replied("ok")}, ""},
		{"blocked, which a model decides about", model, []event.Event{work, replied("blocked")}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s flow.State
			apply(t, &s, append([]event.Event{tt.run, one}, tt.events...)...)
			board := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
			e, ok := flow.Next(&s, board).(flow.SetAside)
			if ok != (tt.want != "") || e.Status != tt.want {
				t.Fatalf("Next = %+v, want %q to be set aside", flow.Next(&s, board), tt.want)
			}
			if !ok {
				return
			}
			apply(t, &s, event.TaskSetAside{Step: 1, Task: "t1", Role: "Implementor", Status: e.Status, Reason: e.Reason})
			if s.Step.Call != event.ManagerCall || s.Step.Anomaly == nil || s.Step.Anomaly.Type != event.SetAsideType {
				t.Errorf("step %+v, want the Manager to be told", s.Step)
			}
			switch next := flow.Next(&s, board).(type) { // of the same step: the Manager
			case flow.Walk:
			case flow.Spawn:
				if next.Call != event.ManagerCall {
					t.Errorf("Next = %+v, want the Manager", next)
				}
			default:
				t.Errorf("Next = %+v, want the Manager", next)
			}
		})
	}
}

// TestDecisionBesideAStep: a person decides about a task that is set aside while another one is at work: that
// goes on where it was.
func TestDecisionBesideAStep(t *testing.T) {
	var s flow.State
	work := attempt(1, event.TaskCall, 1)
	apply(t, &s, event.RunStarted{Manager: event.Walker, KeepGoing: true, Limits: event.Limits{BusyMillis: 1000}}, one, work,
		event.ReplyRejected{AttemptRef: work.AttemptRef},
		event.TaskSetAside{Step: 1, Task: "t1", Role: "Implementor", Status: flow.StatusStuck, Reason: "no sign"},
		event.ManagerWalked{Step: 1, Task: "t1", Status: "ok", NextTask: ptr("t2"), After: "b"},
		event.StepFinished{Step: 1, Task: "t1", Manager: "ok", BoardSHA: "b"},
		event.StepStarted{Step: 2, Task: "t2", Role: "Implementor", BoardSHA: "b"})
	second := event.AttemptRef{Step: 2, Call: event.TaskCall, Task: "t2", Role: "Implementor", Attempt: 1}
	apply(t, &s, event.AttemptStarted{AttemptRef: second, Input: []byte("{}"), Adapter: "claude", Resumes: true},
		event.AttemptStopped{AttemptRef: second, Refusal: &event.Refusal{}, End: event.End{Class: event.ClassBusy, Session: "s1", Worked: true, Left: "b"}})
	apply(t, &s, event.Acknowledged{About: event.AboutAside, Choice: event.Skip, Task: "t1", BoardSHA: "b"},
		event.RunStarted{Manager: event.Walker, KeepGoing: true})
	e, ok := flow.Next(&s, flow.Board{Task: "t2", Role: "Implementor", SHA: "b"}).(flow.Spawn)
	if !ok || e.From != "s1" || e.Attempt != 2 {
		t.Errorf("Next = %+v, want the work to go on in its session", flow.Next(&s, flow.Board{Task: "t2", SHA: "b"}))
	}
}

// TestLeaveAside: walk tries a task once in a run. Then the run ends, with 4 where all of them had no valid
// reply, and the next one tries again.
func TestLeaveAside(t *testing.T) {
	state := func(status string) *flow.State {
		var s flow.State
		work, manager := attempt(1, event.TaskCall, 1), event.ManagerWalked{Step: 1, Task: "t1", Status: "ok", NextTask: ptr("t1"), After: "b", Left: []string{"t2 is not worked on: it needs t1"}}
		apply(t, &s, event.RunStarted{Manager: event.Walker, KeepGoing: true}, one, work, event.ReplyRejected{AttemptRef: work.AttemptRef},
			event.TaskSetAside{Step: 1, Task: "t1", Role: "Implementor", Status: status, Reason: "no JSON"}, manager,
			event.StepFinished{Step: 1, Task: "t1", Manager: "ok", BoardSHA: "b"})
		return &s
	}
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "b"}
	for status, outcome := range map[string]event.Outcome{flow.StatusNoReply: event.Exhausted, flow.StatusStuck: event.Incomplete} {
		s := state(status)
		want := flow.Finish{Outcome: outcome, Text: "t1 is set aside: no JSON; t2 is not worked on: it needs t1 (the board is incomplete)"}
		if diff := cmp.Diff(flow.Effect(want), flow.Next(s, board), anyBy); diff != "" {
			t.Errorf("%s: -want +got\n%s", status, diff)
		}
		apply(t, s, event.RunInterrupted{Outcome: event.Interrupted}, event.RunStarted{Manager: event.Walker, KeepGoing: true})
		if _, ok := flow.Next(s, board).(flow.Finish); !ok {
			t.Errorf("%s: a run that goes on after an interruption tries it again", status)
		}
		apply(t, s, event.RunFinished{Outcome: outcome}, event.RunStarted{Manager: event.Walker, KeepGoing: true})
		if e, ok := flow.Next(s, board).(flow.Spawn); !ok || e.Call != event.TaskCall {
			t.Errorf("%s: Next = %+v in the next run, want it to be tried again", status, flow.Next(s, board))
		}
	}
	for _, began := range []event.RunStarted{{Marked: []string{"t1"}}, {Removed: []string{"t1"}}} {
		s := state(flow.StatusStuck)
		began.Manager, began.KeepGoing = event.Walker, true
		apply(t, s, event.RunFinished{Outcome: event.Incomplete}, began)
		if _, goesOn := flow.Next(s, board).(flow.Walk); goesOn != (began.Marked != nil) || len(s.Asides()) != 0 {
			t.Errorf("%v: Next = %+v, want a task that a person has marked to be gone on from", began.Marked, flow.Next(s, board))
		}
	}
	for _, choice := range []event.Choice{event.Skip, event.Accept} {
		s := state(flow.StatusStuck)
		apply(t, s, event.RunFinished{Outcome: event.Incomplete}, event.Acknowledged{About: event.AboutAside, Choice: choice, Task: "t1"},
			event.RunStarted{Manager: event.Walker, KeepGoing: true})
		if e, ok := flow.Next(s, board).(flow.Walk); !ok || e.Spawn.Call != event.ManagerCall {
			t.Errorf("%s: Next = %+v, want walk to go on from it", choice, flow.Next(s, board))
		}
		if got := s.Statuses[0].Status; !strings.HasPrefix(got, string(choice)) {
			t.Errorf("%s: its status is %s", choice, got)
		}
		if len(s.Asides()) != 0 || s.AsideOf("t1") != nil {
			t.Errorf("%s: it is still set aside", choice)
		}
	}
}

// TestManagerIsAskedOnceMore: a model that would end the board with tasks set aside is told of all of them, and
// asked once more; its second end stands.
func TestManagerIsAskedOnceMore(t *testing.T) {
	work := attempt(1, event.TaskCall, 1)
	ref := func(step int, task string, c event.Call, n int) event.AttemptRef {
		r := event.AttemptRef{Step: step, Call: c, Task: task, Role: "Implementor", Attempt: n}
		if c == event.ManagerCall {
			r.Role = event.ManagerRole
		}
		return r
	}
	started := func(r event.AttemptRef) event.AttemptStarted {
		return event.AttemptStarted{AttemptRef: r, Input: []byte("{}")}
	}
	begin := event.RunStarted{Manager: "claude", KeepGoing: true, Told: true}
	s := after(t, begin, one, work, event.ReplyRejected{AttemptRef: work.AttemptRef},
		event.TaskSetAside{Step: 1, Task: "t1", Role: "Implementor", Status: flow.StatusStuck, Reason: "no sign"})
	if s.MayAskAgain(false) {
		t.Error("the Manager is told of t1 in this very call, and would be asked once more")
	}
	if all := s.Anomalies(); len(all) != 1 || all[0].Details != "t1 is set aside: no sign" {
		t.Errorf("the Manager is told %+v", all)
	}
	plans := ref(1, "t1", event.ManagerCall, 1)
	apply(t, &s, started(plans), event.ReplyAccepted{AttemptRef: plans, Status: "ok", NextTask: ptr("t2")},
		event.StepFinished{Step: 1, Task: "t1", Manager: "ok", NextTask: ptr("t2"), BoardSHA: "b"},
		event.StepStarted{Step: 2, Task: "t2", Role: "Implementor", BoardSHA: "b"})
	second, ends, again := ref(2, "t2", event.TaskCall, 1), ref(2, "t2", event.ManagerCall, 1), ref(2, "t2", event.ManagerCall, 2)
	apply(t, &s, started(second), event.ReplyAccepted{AttemptRef: second, Status: "ok"}, started(ends))
	if !s.MayAskAgain(false) {
		t.Fatal("the Manager knows nothing of t1 in this call, and would not be asked once more")
	}
	if grown := after(t, begin, one, work, event.ReplyAccepted{AttemptRef: work.AttemptRef, Status: "ok"}, started(ref(1, "t1", event.ManagerCall, 1))); !grown.MayAskAgain(true) || grown.MayAskAgain(false) {
		t.Error("the Manager is not asked about a task that was added meanwhile, or is without one")
	}
	apply(t, &s, event.ReplyAccepted{AttemptRef: ends, Status: "ok", Again: true, End: event.End{Left: "c"}})
	if s.Step.BoardSHA != "c" || s.Step.Left != "c" || s.Step.Before != nil || s.Step.Reply != nil {
		t.Errorf("the step is %+v, want it to go on from the board as the first reply left it", s.Step)
	}
	if all := s.Anomalies(); len(all) != 1 || all[0].Details != "t1 is set aside, and the board would end without it: no sign" || all[0].Check != flow.StatusStuck {
		t.Errorf("the Manager is told %+v", all)
	}
	if e, ok := flow.Next(&s, flow.Board{Task: "t2", Role: "Implementor", SHA: "c"}).(flow.Spawn); !ok || e.Call != event.ManagerCall {
		t.Errorf("Next = %+v, want the Manager", flow.Next(&s, flow.Board{SHA: "c"}))
	}
	again.Attempt = s.Step.Started + 1
	apply(t, &s, started(again))
	if s.MayAskAgain(false) || s.MayAskAgain(true) {
		t.Error("the Manager would be asked a third time")
	}
	if err := s.Apply(event.ReplyAccepted{AttemptRef: again, Status: "ok", Again: true}); err == nil {
		t.Error("a third question was taken")
	}
}

// TestManyAside: the end of a run names three tasks that are set aside, and counts the others; what is in quarantine,
// too, needs a person.
func TestManyAside(t *testing.T) {
	s := flow.State{KeepGoing: true, Manager: event.Walker}
	for _, task := range []string{"a", "b", "c", "d", "e", "f"} {
		s.Aside = append(s.Aside, flow.Aside{Task: task, Status: flow.StatusNoReply, Text: "no JSON", Tried: true})
	}
	end, ok := flow.Next(&s, flow.Board{Task: "a", Role: "Implementor", SHA: "x"}).(flow.Finish)
	if want := "a is set aside: no JSON; b is set aside: no JSON; c is set aside: no JSON; 3 more are set aside (the board is incomplete)"; !ok || end.Text != want || end.Outcome != event.Exhausted {
		t.Errorf("Next = %+v, want %q", end, want)
	}
	s.Quarantine = []flow.Quarantine{{Task: "q", Text: "LOOP_SUSPECTED"}}
	if end, _ := flow.Next(&s, flow.Board{Task: "a", Role: "Implementor", SHA: "x"}).(flow.Finish); end.Outcome != event.Incomplete || !strings.Contains(end.Text, "; q is in quarantine") {
		t.Errorf("with a task in quarantine Next = %+v", end)
	}
	if e, ok := flow.Next(&s, flow.Board{Task: "g", Role: "Implementor", SHA: "x"}).(flow.Spawn); !ok || e.Call != event.TaskCall {
		t.Errorf("Next = %+v for a task that is not set aside, want its work", e)
	}
	s.Manager, s.Aside[0].Times = "claude", 2
	if _, ok := flow.Next(&s, flow.Board{Task: "a", Role: "Implementor", SHA: "x"}).(flow.Finish); !ok {
		t.Error("a model names a task that was set aside twice, and the run goes on")
	}
	s.Aside[0].Times = 1
	if _, ok := flow.Next(&s, flow.Board{Task: "a", Role: "Implementor", SHA: "x"}).(flow.Spawn); !ok {
		t.Error("a model plans a task anew once, and the run ends")
	}
}

// TestBlockedBy: a run that waits for the work of another board says so until it goes on.
func TestBlockedBy(t *testing.T) {
	waits := event.ScopeOverlaps{Task: "t1", Owner: "o.yaml", OwnerTask: "o.md", Waits: true}
	warns := waits
	warns.Waits = false
	for _, tt := range []struct {
		name string
		then []event.Event
		want string
	}{
		{"it waits", []event.Event{waits}, "waits for o.md of o.yaml, which changes the same files"},
		{"it only warns", []event.Event{warns}, ""},
		{"for the same task", []event.Event{event.DuplicateTask{Task: "t1", Owner: "o.yaml"}}, "waits for the run of o.yaml, which works on t1"},
		{"a step begins", []event.Event{waits, one}, ""},
		{"it is interrupted", []event.Event{waits, event.RunInterrupted{Outcome: event.Interrupted}}, ""},
		{"it ends", []event.Event{waits, event.RunFinished{Outcome: event.LimitReached}}, ""},
		{"another run begins", []event.Event{waits, start}, ""},
		{"the work goes on", []event.Event{one, waits, attempt(1, event.TaskCall, 1)}, ""},
	} {
		s := after(t, append([]event.Event{start}, tt.then...)...)
		if got := s.WaitsFor(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestNamedAgain: what a person names while it is set aside is tried once more, also by a run that goes on after
// a kill. Every other task that is set aside waits for the next run.
func TestNamedAgain(t *testing.T) {
	for named, tried := range map[string][]bool{"t1": {false, true}, "./t1": {false, true}, "t2": {true, false}, "t9": {true, true}, "": {true, true}} {
		s := flow.State{KeepGoing: true, Manager: event.Walker, Running: true,
			Aside: []flow.Aside{{Task: "t1", Tried: true, Times: 1}, {Task: "t2", Tried: true, Times: 1}},
			Step:  &flow.Step{Number: 3, Task: "t3", Role: "Implementor", Call: event.TaskCall}}
		before := s.Aside
		apply(t, &s, event.StepAbandoned{Step: 3, Task: "t3", Named: named})
		for i, want := range tried {
			if got := s.Aside[i]; got.Tried != want || (got.Times == 1) != want {
				t.Errorf("named %q: %+v, want tried %t", named, got, want)
			}
		}
		if !before[0].Tried || !before[1].Tried {
			t.Errorf("named %q: the earlier state has changed", named)
		}
	}
}

// TestNamedBetweenSteps: a run finds what a person has named while no step was open, or one of the supervisor. What
// the last step left as current was named by no person, and what is current while the Manager works may be its own.
func TestNamedBetweenSteps(t *testing.T) {
	s := flow.State{KeepGoing: true, Manager: event.Walker, Last: flow.ManagerReply{Next: "left"}, Aside: []flow.Aside{{Task: "t1", Tried: true, Times: 1}, {Task: "t2", Tried: true, Times: 1}, {Task: "left", Tried: true, Times: 1}}}
	for _, tt := range []struct {
		task string
		step *flow.Step
		want string
	}{
		{"t1", nil, "t1"}, {"./t2", nil, "./t2"}, {"t3", nil, ""}, {"", nil, ""}, {"left", nil, ""}, {"./left", nil, ""},
		{"t1", &flow.Step{Number: 2, Task: "CHECKPOINT-001", Call: event.CheckpointCall}, "t1"},
		{"t1", &flow.Step{Number: 2, Task: "./t1"}, ""},
		{"t1", &flow.Step{Number: 2, Task: "t9", Before: &event.Baseline{}}, ""},
	} {
		if s.Step = tt.step; s.NamedAgain(tt.task) != tt.want {
			t.Errorf("%s, step %+v: %q, want %q", tt.task, tt.step, s.NamedAgain(tt.task), tt.want)
		}
	}
	s.Step = nil
	again := s.Again()
	again.Named = s.NamedAgain("./t2")
	apply(t, &s, again)
	if s.Aside[1].Tried || !s.Aside[0].Tried {
		t.Errorf("set aside: %+v, want t2 to be tried again", s.Aside)
	}
}
