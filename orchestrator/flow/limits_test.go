package flow_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// spending is an attempt's cost in millionths of a dollar.
func spending(cost int64) *event.Spending {
	return &event.Spending{Input: 1000, Cached: 500, Output: 100, Cost: &cost}
}

// limited starts a run with limits of its own.
func limited(l event.Limits) event.RunStarted {
	l.MaxRetries = 3
	return event.RunStarted{Limits: l}
}

// stepOf is a whole step with a task in which each of the two agents spends as much.
func stepOf(n int, task string, cost, millis int64) []event.Event {
	return []event.Event{event.StepStarted{Step: n, Task: task, Role: "Implementor", BoardSHA: fmt.Sprint(n)},
		attempt(n, event.TaskCall, 1), event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.TaskCall,
			Attempt: 1}, Status: "ok", End: event.End{Millis: millis, Spent: spending(cost)}},
		attempt(n, event.ManagerCall, 1), event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n,
			Call: event.ManagerCall, Attempt: 1}, Status: "ok", End: event.End{Millis: millis, Spent: spending(cost)}},
		event.StepFinished{Step: n, Manager: "ok", BoardSHA: fmt.Sprint(n + 1)}}
}

func events(lists ...[]event.Event) []event.Event { return slices.Concat(lists...) }

// TestLimits: a limit is looked at before every attempt, and what has no limit goes on.
func TestLimits(t *testing.T) {
	open := []event.Event{one, attempt(1, event.TaskCall, 1)}
	accepted := event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1},
		Status: "ok", End: event.End{Millis: 60_000, Spent: spending(20_000)}}
	rejected := event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1},
		End: event.End{Millis: 60_000, Spent: spending(20_000)}}
	stopped := event.AttemptStopped{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1},
		End: event.End{Millis: 60_000, Spent: spending(20_000)}}
	unpriced := accepted
	unpriced.Spent = nil
	cost, duration := event.Limits{MaxCost: 20_000}, event.Limits{MaxMillis: 60_000}
	same := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	other := flow.Board{Task: "t2", Role: "Implementor", SHA: "2"}
	again := flow.Board{Task: "t1", Role: "Implementor", SHA: "2"}
	tests := []struct {
		name   string
		limits event.Limits
		events []event.Event
		board  flow.Board
		want   string // of the Finish; "": an agent is started
	}{
		{"nothing is used yet", cost, nil, same, ""},
		{"before the Manager's call", cost, events(open, []event.Event{accepted}), same,
			"the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"before a retry", cost, events(open, []event.Event{rejected}), same,
			"the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"after an attempt that was stopped", cost, events(open, []event.Event{stopped}), same,
			"the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"before a new step", cost, stepOf(1, "t1", 10_000, 5), other,
			"the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"a little is left", cost, stepOf(1, "t1", 9_999, 5), other, ""},
		{"an unknown cost is none", cost, events(open, []event.Event{unpriced}), same, ""},
		{"and what is known of the others counts", cost,
			events(open, []event.Event{unpriced, attempt(1, event.ManagerCall, 1),
				event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Attempt: 1},
					End: event.End{Spent: spending(20_000)}}}),
			same, "the limit of $0.02 (max_cost) is reached: at least $0.02 used"},
		{"time before the Manager's call", duration, events(open, []event.Event{accepted}), same,
			"the limit of 1m (max_duration) is reached: agents worked 1m"},
		{"time before a new step", duration, stepOf(1, "t1", 0, 45_000), other,
			"the limit of 1m (max_duration) is reached: agents worked 1m30s"},
		{"some time is left", duration, stepOf(1, "t1", 0, 29_000), other, ""},
		{"steps of one task", event.Limits{MaxTaskSteps: 1}, stepOf(1, "t1", 1, 1), again,
			"the limit of 1 step for a task (max_task_steps) is reached by t1"},
		{"another task has its own", event.Limits{MaxTaskSteps: 1}, stepOf(1, "t1", 1, 1), other, ""},
		{"the cost of one task", event.Limits{MaxTaskCost: 20_000}, stepOf(1, "t1", 10_000, 1), again,
			"the limit of $0.02 for a task (max_task_cost) is reached by t1: $0.02 used"},
		{"of which another task has its own", event.Limits{MaxTaskCost: 20_000}, stepOf(1, "t1", 10_000, 1), other, ""},
		{"a task that comes back after another", event.Limits{MaxTaskCost: 40_000},
			events(stepOf(1, "t1", 10_000, 1), stepOf(2, "t2", 1, 1), stepOf(3, "t1", 10_000, 1)),
			again, "the limit of $0.04 for a task (max_task_cost) is reached by t1: $0.04 used"},
		{"the time of one task, within its step", event.Limits{MaxTaskMillis: 60_000},
			events(open, []event.Event{accepted}), same,
			"the limit of 1m for a task (max_task_duration) is reached by t1: agents worked 1m"},
		{"a complete board needs nothing more", cost, stepOf(1, "t1", 10_000, 5),
			flow.Board{Terminal: true, SHA: "2"}, "the board is complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := after(t, append([]event.Event{limited(tt.limits)}, tt.events...)...)
			finish, _ := flow.Next(&s, tt.board).(flow.Finish)
			if finish.Text != tt.want {
				t.Errorf("Next ends with %q, want %q", finish.Text, tt.want)
			}
			if want := tt.want != "" && !tt.board.Terminal; (finish.Outcome == event.LimitReached) != want {
				t.Errorf("the outcome is %q", finish.Outcome)
			}
		})
	}
}

// TestAnAcceptedManagerReplyIsWritten: what is paid for is not lost to a limit.
func TestAnAcceptedManagerReplyIsWritten(t *testing.T) {
	all := stepOf(1, "t1", 10_000, 5)
	s := after(t, append([]event.Event{limited(event.Limits{MaxCost: 1})}, all[:len(all)-1]...)...)
	if got := flow.Next(&s, flow.Board{}); got != flow.Effect(flow.WriteBoard{Step: 1}) {
		t.Errorf("Next = %+v, want WriteBoard", got)
	}
}

// TestLimitsOutliveAnInterruption: "Attempts and limits survive an interruption. After any Finish
// a new run has fresh ones."
func TestLimitsOutliveAnInterruption(t *testing.T) {
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "2"}
	for name, l := range map[string]event.Limits{
		"cost": {MaxCost: 20_000}, "duration": {MaxMillis: 10}, "steps": {MaxSteps: 1},
		"task cost": {MaxTaskCost: 20_000}, "task duration": {MaxTaskMillis: 10}, "task steps": {MaxTaskSteps: 1},
	} {
		begun := append([]event.Event{limited(l)}, stepOf(1, "t1", 10_000, 5)...)
		for _, end := range [][]event.Event{nil, {event.RunInterrupted{Outcome: event.Interrupted}}, {event.RunInterrupted{Outcome: event.Later}}} {
			s := after(t, events(begun, end, []event.Event{limited(l)})...)
			if e, _ := flow.Next(&s, board).(flow.Finish); e.Outcome != event.LimitReached {
				t.Errorf("%s, after %v: Next = %+v, want the limit reached still", name, end, e)
			}
		}
		s := after(t, events(begun, []event.Event{event.RunFinished{Outcome: event.LimitReached}, limited(l)})...)
		if _, ok := flow.Next(&s, board).(flow.Spawn); !ok {
			t.Errorf("%s: a new run has no fresh limits: %+v", name, flow.Next(&s, board))
		}
		if s.Used != (event.Used{}) || s.Total.Cost != 20_000 || s.Total.Attempts != 2 {
			t.Errorf("%s: used %+v, in all %+v, want nothing now and two attempts in all", name, s.Used, s.Total)
		}
	}
}

// TestOpenStepGoesOnAfterALimit: the next run asks for the same reply, with limits of its own.
func TestOpenStepGoesOnAfterALimit(t *testing.T) {
	limit := limited(event.Limits{MaxMillis: 1000})
	stopped := event.AttemptStopped{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1},
		End: event.End{Millis: 1000}}
	s := after(t, limit, one, attempt(1, event.TaskCall, 1), stopped, event.RunFinished{Outcome: event.LimitReached},
		limit)
	want := flow.Spawn{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "t1", Role: "Implementor",
		Attempt: 2}}
	if diff := cmp.Diff(flow.Effect(want), flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}), anyBy); diff != "" {
		t.Errorf("Next: -want +got\n%s", diff)
	}
	if s.Step.Rejected != 0 {
		t.Error("an attempt that the limit has stopped cost a retry")
	}
}

// TestTimeLeft: time in which nothing could run counts for the limit of the run, and not for that of the task.
func TestTimeLeft(t *testing.T) {
	tests := []struct {
		name   string
		limits event.Limits
		ofRun  time.Duration
		ofTask time.Duration
	}{
		{"no limit", event.Limits{MaxCost: 1}, 0, 0},
		{"of the run", event.Limits{MaxMillis: 10_000}, 4 * time.Second, 0},
		{"of the task", event.Limits{MaxTaskMillis: 9000}, 0, 7500 * time.Millisecond},
		{"both", event.Limits{MaxMillis: 10_000, MaxTaskMillis: 3000}, 4 * time.Second, 1500 * time.Millisecond},
		{"none", event.Limits{MaxMillis: 5000}, 0, 0},
	}
	for _, tt := range tests {
		s := after(t, events([]event.Event{limited(tt.limits)}, stepOf(1, "t0", 0, 2000), []event.Event{
			event.StepStarted{Step: 2, Task: "t1", Role: "Implementor"}, attempt(2, event.TaskCall, 1),
			event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 2, Call: event.TaskCall, Attempt: 1},
				End: event.End{Millis: 2000, Frozen: 500}}})...)
		if ofRun, ofTask := s.TimeLeft(); ofRun != tt.ofRun || ofTask != tt.ofTask {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, ofRun, ofTask, tt.ofRun, tt.ofTask)
		}
	}
}

// TestTasksAreBounded: the state does not grow with the list of tasks, and the tasks
// that come back are known.
func TestTasksAreBounded(t *testing.T) {
	s := after(t, limited(event.Limits{MaxTaskSteps: 9}))
	for n := 1; n <= 1000; n++ {
		task := fmt.Sprint("t", n)
		if n%100 == 0 {
			task = "again"
		}
		for _, e := range stepOf(n, task, 1, 1) {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(s.Tasks) > 256 {
		t.Errorf("%d tasks are kept", len(s.Tasks))
	}
	if e, ok := flow.Next(&s, flow.Board{Task: "again", SHA: "x"}).(flow.Finish); !ok || e.Outcome != event.LimitReached {
		t.Errorf("Next on a task that was worked on ten times: %+v", e)
	}
}

// TestRefusedEventChangesNoTask: the list of tasks is the state's own.
func TestRefusedEventChangesNoTask(t *testing.T) {
	s := after(t, events([]event.Event{limited(event.Limits{MaxTaskCost: 9})}, stepOf(1, "t1", 1, 1), []event.Event{
		event.StepStarted{Step: 2, Task: "t1", Role: "Implementor"}, attempt(2, event.TaskCall, 1)})...)
	before := s
	kept := slices.Clone(s.Tasks)
	if err := s.Apply(event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 2, Call: event.TaskCall, Attempt: 1}, End: event.End{Spent: spending(5)}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, before.Tasks); diff != "" {
		t.Errorf("a copy of the state changed with it:\n%s", diff)
	}
	if s.Tasks[0].Used.Cost != 7 {
		t.Errorf("tasks = %+v, want a cost of 7", s.Tasks)
	}
}

// TestTimeLeftWithoutAStep: there is no agent whose time could end.
func TestTimeLeftWithoutAStep(t *testing.T) {
	s := after(t, limited(event.Limits{MaxMillis: 5000}))
	if ofRun, ofTask := s.TimeLeft(); ofRun != 0 || ofTask != 0 {
		t.Errorf("%v, %v", ofRun, ofTask)
	}
}

// TestTally: what is not known is not there, rather than nothing.
func TestTally(t *testing.T) {
	for want, u := range map[string]event.Used{
		`{"cost":"$0.00","cost_microusd":0,"attempts":0,"attempts_without_cost":0,"millis":0}`:                                                                    {},
		`{"cost":"unknown","attempts":2,"attempts_without_cost":2,"millis":9}`:                                                                                    {Attempts: 2, Millis: 9},
		`{"cost":"$0.00","cost_microusd":0,"attempts":1,"attempts_without_cost":0,"millis":9}`:                                                                    {Attempts: 1, Priced: 1, Millis: 9},
		`{"cost":"at least $0.50","cost_microusd":500000,"input_tokens":7,"cached_tokens":0,"output_tokens":3,"attempts":3,"attempts_without_cost":2,"millis":9}`: {Attempts: 3, Told: 1, Priced: 1, Input: 7, Output: 3, Cost: 500_000, Millis: 9},
		`{"cost":"at least $0.50","cost_microusd":500000,"attempts":1,"attempts_without_cost":1,"millis":9}`:                                                      {Attempts: 1, Cost: 500_000, Millis: 9},
	} {
		if got := encode(t, flow.Tally{Used: u}); got != want {
			t.Errorf("%+v:\n%s, want\n%s", u, got, want)
		}
	}
}

// TestNearLimits: at 80 % of a limit, and no longer than it is not reached, the run says so.
func TestNearLimits(t *testing.T) {
	open := event.StepStarted{Step: 5, Task: "t1", Role: "Implementor", BoardSHA: "x"}
	four := events(stepOf(1, "t1", 1000, 100), stepOf(2, "t1", 1000, 100), stepOf(3, "t2", 1000, 100),
		stepOf(4, "t2", 1000, 100))
	for name, tt := range map[string]struct {
		limits event.Limits
		events []event.Event
		want   []string
	}{
		"none": {event.Limits{}, four, nil},
		"steps": {event.Limits{MaxSteps: 5}, four,
			[]string{"80 % of the limit of 5 steps (max_steps) is used"}},
		"not yet":  {event.Limits{MaxSteps: 6, MaxCost: 10_001, MaxMillis: 1001}, four, nil},
		"reached":  {event.Limits{MaxSteps: 4, MaxCost: 8000, MaxMillis: 800}, four, nil},
		"one step": {event.Limits{MaxSteps: 1}, nil, nil},
		"cost": {event.Limits{MaxCost: 10_000}, four,
			[]string{"80 % of the limit of $0.01 (max_cost) is used"}},
		"time": {event.Limits{MaxMillis: 1000}, four,
			[]string{"80 % of the limit of 1s (max_duration) is used"}},
		"all but used up": {event.Limits{MaxCost: 8001}, four,
			[]string{"80 % of the limit of $0.0080 (max_cost) is used"}},
		"no bound to speak of": {event.Limits{MaxSteps: math.MaxInt, MaxCost: math.MaxInt64}, four, nil},
		"of another task":      {event.Limits{MaxTaskSteps: 2, MaxTaskCost: 5000, MaxTaskMillis: 500}, four, nil},
		"of the open step's task": {event.Limits{MaxTaskSteps: 3, MaxTaskCost: 5000, MaxTaskMillis: 500},
			append(four, open), []string{
				"80 % of the limit of $0.0050 for a task (max_task_cost) is used by t1", "80 % of the limit of 500ms for a task (max_task_duration) is used by t1"}},
	} {
		s := after(t, append([]event.Event{limited(tt.limits)}, tt.events...)...)
		if diff := cmp.Diff(tt.want, s.NearLimits()); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestNotDone: a task is not ok as long as its last reply was not; to a task of the Manager's own that
// is the Manager's reply.
func TestNotDone(t *testing.T) {
	said := func(n int, task, status string) []event.Event {
		events := stepOf(n, task, 1, 1)
		reply := events[2].(event.ReplyAccepted)
		reply.Status = status
		events[2] = reply
		return events
	}
	own := []event.Event{event.StepStarted{Step: 3, Task: "t2", Role: "Manager", BoardSHA: "3"},
		attempt(3, event.ManagerCall, 1),
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 3, Call: event.ManagerCall, Attempt: 1},
			Status: "error"}, event.StepFinished{Step: 3, Manager: "error", BoardSHA: "4"}}
	for name, tt := range map[string]struct {
		events []event.Event
		want   []flow.TaskStatus
	}{
		"all ok": {events(said(1, "t1", "ok"), said(2, "t2", "ok")), nil},
		"one is blocked": {events(said(1, "t1", "blocked"), said(2, "t2", "ok")),
			[]flow.TaskStatus{{Task: "t1", Status: "blocked"}}},
		"the last reply counts": {events(said(1, "t1", "blocked"), said(2, "t1", "error")),
			[]flow.TaskStatus{{Task: "t1", Status: "error"}}},
		"in the order of replies": {events(said(1, "t1", "blocked"), said(2, "t2", "error"),
			said(3, "t1", "escalate")), []flow.TaskStatus{{Task: "t2", Status: "error"},
			{Task: "t1", Status: "escalate"}}},
		"it was done after all": {events(said(1, "t1", "blocked"), said(2, "t1", "ok")), nil},
		"another was": {events(said(1, "t1", "blocked"), said(2, "t2", "error"), said(3, "t1", "ok")),
			[]flow.TaskStatus{{Task: "t2", Status: "error"}}},
		"the Manager's own": {events(said(1, "t1", "ok"), said(2, "t2", "blocked"), own),
			[]flow.TaskStatus{{Task: "t2", Status: "error"}}},
	} {
		s := after(t, append([]event.Event{limited(event.Limits{})}, tt.events...)...)
		if diff := cmp.Diff(tt.want, s.NotDone()); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
