package flow_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/flow"
)

// spending is an attempt's cost in millionths of a dollar.
func spending(cost int64) *flow.Spending {
	return &flow.Spending{Input: 1000, Cached: 500, Output: 100, Cost: &cost}
}

// partly is spending of which only a part is known.
func partly(cost int64) *flow.Spending {
	s := spending(cost)
	s.Partial = true
	return s
}

// limited starts a run with limits of its own.
func limited(l flow.Limits) flow.RunStarted {
	l.MaxRetries = 3
	return flow.RunStarted{Limits: l}
}

// stepOf is a whole step with a task in which each of the two agents spends as much.
func stepOf(n int, task string, cost, millis int64) []flow.Event {
	return []flow.Event{flow.StepStarted{Step: n, Task: task, Role: "Implementor", BoardSHA: fmt.Sprint(n)},
		attempt(n, flow.TaskCall, 1), flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: n, Call: flow.TaskCall, Attempt: 1}, Status: "ok", Millis: millis, Spent: spending(cost)},
		attempt(n, flow.ManagerCall, 1), flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: n, Call: flow.ManagerCall, Attempt: 1}, Status: "ok", Millis: millis, Spent: spending(cost)},
		flow.StepFinished{Step: n, Manager: "ok", BoardSHA: fmt.Sprint(n + 1)}}
}

func events(lists ...[]flow.Event) []flow.Event { return slices.Concat(lists...) }

// TestLimits: a limit is looked at before every attempt, and what has no limit goes on.
func TestLimits(t *testing.T) {
	open := []flow.Event{one, attempt(1, flow.TaskCall, 1)}
	accepted := flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Status: "ok", Millis: 60_000, Spent: spending(20_000)}
	rejected := flow.ReplyRejected{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Millis: 60_000, Spent: spending(20_000)}
	stopped := flow.AttemptStopped{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Millis: 60_000, Spent: spending(20_000)}
	unpriced := accepted
	unpriced.Spent = nil
	cost, duration := flow.Limits{MaxCost: 20_000}, flow.Limits{MaxMillis: 60_000}
	same := flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}
	other := flow.Board{Task: "t2", Role: "Implementor", SHA: "2"}
	again := flow.Board{Task: "t1", Role: "Implementor", SHA: "2"}
	tests := []struct {
		name   string
		limits flow.Limits
		events []flow.Event
		board  flow.Board
		want   string // of the Finish; "": an agent is started
	}{
		{"nothing is used yet", cost, nil, same, ""},
		{"before the Manager's call", cost, events(open, []flow.Event{accepted}), same, "the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"before a retry", cost, events(open, []flow.Event{rejected}), same, "the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"after an attempt that was stopped", cost, events(open, []flow.Event{stopped}), same, "the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"before a new step", cost, stepOf(1, "t1", 10_000, 5), other, "the limit of $0.02 (max_cost) is reached: $0.02 used"},
		{"a little is left", cost, stepOf(1, "t1", 9_999, 5), other, ""},
		{"an unknown cost is none", cost, events(open, []flow.Event{unpriced}), same, ""},
		{"and what is known of the others counts", cost,
			events(open, []flow.Event{unpriced, attempt(1, flow.ManagerCall, 1), flow.ReplyRejected{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ManagerCall, Attempt: 1}, Spent: spending(20_000)}}),
			same, "the limit of $0.02 (max_cost) is reached: at least $0.02 used"},
		{"time before the Manager's call", duration, events(open, []flow.Event{accepted}), same, "the limit of 1m (max_duration) is reached: agents worked 1m"},
		{"time before a new step", duration, stepOf(1, "t1", 0, 45_000), other, "the limit of 1m (max_duration) is reached: agents worked 1m30s"},
		{"some time is left", duration, stepOf(1, "t1", 0, 29_000), other, ""},
		{"steps of one task", flow.Limits{MaxTaskSteps: 1}, stepOf(1, "t1", 1, 1), again, "the limit of 1 step for a task (max_task_steps) is reached by t1"},
		{"another task has its own", flow.Limits{MaxTaskSteps: 1}, stepOf(1, "t1", 1, 1), other, ""},
		{"the cost of one task", flow.Limits{MaxTaskCost: 20_000}, stepOf(1, "t1", 10_000, 1), again,
			"the limit of $0.02 for a task (max_task_cost) is reached by t1: $0.02 used"},
		{"of which another task has its own", flow.Limits{MaxTaskCost: 20_000}, stepOf(1, "t1", 10_000, 1), other, ""},
		{"a task that comes back after another", flow.Limits{MaxTaskCost: 40_000}, events(stepOf(1, "t1", 10_000, 1), stepOf(2, "t2", 1, 1), stepOf(3, "t1", 10_000, 1)),
			again, "the limit of $0.04 for a task (max_task_cost) is reached by t1: $0.04 used"},
		{"the time of one task, within its step", flow.Limits{MaxTaskMillis: 60_000}, events(open, []flow.Event{accepted}), same,
			"the limit of 1m for a task (max_task_duration) is reached by t1: agents worked 1m"},
		{"a complete board needs nothing more", cost, stepOf(1, "t1", 10_000, 5), flow.Board{Terminal: true, SHA: "2"}, "the board is complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := after(t, append([]flow.Event{limited(tt.limits)}, tt.events...)...)
			finish, _ := flow.Next(&s, tt.board).(flow.Finish)
			if finish.Text != tt.want {
				t.Errorf("Next ends with %q, want %q", finish.Text, tt.want)
			}
			if want := tt.want != "" && !tt.board.Terminal; (finish.Outcome == flow.LimitReached) != want {
				t.Errorf("the outcome is %q", finish.Outcome)
			}
		})
	}
}

// TestAnAcceptedManagerReplyIsWritten: what is paid for is not lost to a limit.
func TestAnAcceptedManagerReplyIsWritten(t *testing.T) {
	all := stepOf(1, "t1", 10_000, 5)
	s := after(t, append([]flow.Event{limited(flow.Limits{MaxCost: 1})}, all[:len(all)-1]...)...)
	if got := flow.Next(&s, flow.Board{}); got != flow.Effect(flow.WriteBoard{Step: 1}) {
		t.Errorf("Next = %+v, want WriteBoard", got)
	}
}

// TestLimitsOutliveAnInterruption: "Attempts and limits survive an interruption. After any Finish
// a new run has fresh ones."
func TestLimitsOutliveAnInterruption(t *testing.T) {
	board := flow.Board{Task: "t1", Role: "Implementor", SHA: "2"}
	for name, l := range map[string]flow.Limits{
		"cost": {MaxCost: 20_000}, "duration": {MaxMillis: 10}, "steps": {MaxSteps: 1},
		"task cost": {MaxTaskCost: 20_000}, "task duration": {MaxTaskMillis: 10}, "task steps": {MaxTaskSteps: 1},
	} {
		begun := append([]flow.Event{limited(l)}, stepOf(1, "t1", 10_000, 5)...)
		for _, end := range [][]flow.Event{nil, {flow.RunInterrupted{Outcome: flow.Interrupted}}, {flow.RunInterrupted{Outcome: flow.Later}}} {
			s := after(t, events(begun, end, []flow.Event{limited(l)})...)
			if e, _ := flow.Next(&s, board).(flow.Finish); e.Outcome != flow.LimitReached {
				t.Errorf("%s, after %v: Next = %+v, want the limit reached still", name, end, e)
			}
		}
		s := after(t, events(begun, []flow.Event{flow.RunFinished{Outcome: flow.LimitReached}, limited(l)})...)
		if _, ok := flow.Next(&s, board).(flow.Spawn); !ok {
			t.Errorf("%s: a new run has no fresh limits: %+v", name, flow.Next(&s, board))
		}
		if s.Used != (flow.Used{}) || s.Total.Cost != 20_000 || s.Total.Attempts != 2 {
			t.Errorf("%s: used %+v, in all %+v, want nothing now and two attempts in all", name, s.Used, s.Total)
		}
	}
}

// TestOpenStepGoesOnAfterALimit: the next run asks for the same reply, with limits of its own.
func TestOpenStepGoesOnAfterALimit(t *testing.T) {
	limit := limited(flow.Limits{MaxMillis: 1000})
	stopped := flow.AttemptStopped{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Millis: 1000}
	s := after(t, limit, one, attempt(1, flow.TaskCall, 1), stopped, flow.RunFinished{Outcome: flow.LimitReached}, limit)
	want := flow.Spawn{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Task: "t1", Role: "Implementor", Attempt: 2}}
	if diff := cmp.Diff(flow.Effect(want), flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor", SHA: "a"})); diff != "" {
		t.Errorf("Next: -want +got\n%s", diff)
	}
	if s.Step.Rejected != 0 {
		t.Error("an attempt that the limit has stopped cost a retry")
	}
}

func TestLimitsInWords(t *testing.T) {
	for want, l := range map[string]flow.Limits{
		"":                        {MaxRetries: 3},
		"$5.00, 1h, 10 steps":     {MaxCost: 5_000_000, MaxMillis: 3_600_000, MaxSteps: 10},
		"of a task $0.50, 1 step": {MaxTaskCost: 500_000, MaxTaskSteps: 1},
		"2 steps; of a task 10m":  {MaxSteps: 2, MaxTaskMillis: 600_000},
	} {
		if got := l.String(); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
}

func TestTimeLeft(t *testing.T) {
	tests := []struct {
		name   string
		limits flow.Limits
		want   time.Duration
		is     bool
	}{
		{"no limit", flow.Limits{MaxCost: 1}, 0, false},
		{"of the run", flow.Limits{MaxMillis: 10_000}, 4 * time.Second, true},
		{"of the task", flow.Limits{MaxTaskMillis: 9000}, 7 * time.Second, true},
		{"the shorter of both", flow.Limits{MaxMillis: 10_000, MaxTaskMillis: 3000}, time.Second, true},
		{"none", flow.Limits{MaxMillis: 5000}, 0, true},
	}
	for _, tt := range tests {
		s := after(t, events([]flow.Event{limited(tt.limits)}, stepOf(1, "t0", 0, 2000), []flow.Event{
			flow.StepStarted{Step: 2, Task: "t1", Role: "Implementor"}, attempt(2, flow.TaskCall, 1),
			flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 2, Call: flow.TaskCall, Attempt: 1}, Millis: 2000}})...)
		if left, is := s.TimeLeft(); left != tt.want || is != tt.is {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, left, is, tt.want, tt.is)
		}
	}
}

// TestTasksAreBounded: the state does not grow with the list of tasks, and the tasks
// that come back are known.
func TestTasksAreBounded(t *testing.T) {
	s := after(t, limited(flow.Limits{MaxTaskSteps: 9}))
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
	if e, ok := flow.Next(&s, flow.Board{Task: "again", SHA: "x"}).(flow.Finish); !ok || e.Outcome != flow.LimitReached {
		t.Errorf("Next on a task that was worked on ten times: %+v", e)
	}
}

// TestRefusedEventChangesNoTask: the list of tasks is the state's own.
func TestRefusedEventChangesNoTask(t *testing.T) {
	s := after(t, events([]flow.Event{limited(flow.Limits{MaxTaskCost: 9})}, stepOf(1, "t1", 1, 1), []flow.Event{
		flow.StepStarted{Step: 2, Task: "t1", Role: "Implementor"}, attempt(2, flow.TaskCall, 1)})...)
	before := s
	kept := slices.Clone(s.Tasks)
	if err := s.Apply(flow.ReplyRejected{AttemptRef: flow.AttemptRef{Step: 2, Call: flow.TaskCall, Attempt: 1}, Spent: spending(5)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, before.Tasks); diff != "" {
		t.Errorf("a copy of the state changed with it:\n%s", diff)
	}
	if s.Tasks[0].Used.Cost != 7 {
		t.Errorf("tasks = %+v, want a cost of 7", s.Tasks)
	}
}

func TestUsed(t *testing.T) {
	tests := []struct {
		name          string
		spent         []*flow.Spending
		money, tokens string
		both          string
	}{
		{"nothing was started", nil, "$0.00", "", ""},
		{"no tool tells", []*flow.Spending{nil}, "unknown", "", ""},
		{"all tell", []*flow.Spending{spending(1_000), spending(11_300)}, "$0.0123", "2.0k in/200 out", "$0.0123, 2.0k in/200 out"},
		{"some tell", []*flow.Spending{spending(120_000), nil}, "at least $0.12", "1.0k in/100 out", "at least $0.12, 1.0k in/100 out"},
		{"tokens without a price", []*flow.Spending{{Input: 999, Output: 1}}, "unknown", "999 in/1 out", "cost unknown, 999 in/1 out"},
		{"it costs nothing, and is known to", []*flow.Spending{spending(0)}, "$0.00", "1.0k in/100 out", "$0.00, 1.0k in/100 out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var u flow.Used
			for _, s := range tt.spent {
				u.Add(7, s)
			}
			if u.Money() != tt.money || u.Tokens() != tt.tokens || u.String() != tt.both {
				t.Errorf("%q, %q, %q, want %q, %q, %q", u.Money(), u.Tokens(), u.String(), tt.money, tt.tokens, tt.both)
			}
			if u.Millis != int64(7*len(tt.spent)) {
				t.Errorf("%d ms, want 7 of each attempt", u.Millis)
			}
		})
	}
	huge := flow.Used{Cost: math.MaxInt64 - 1}
	if huge.Add(-5, spending(7)); huge.Cost != math.MaxInt64 || huge.Millis != 0 {
		t.Errorf("%+v, want the greatest cost that there is and no time", huge)
	}
}

func TestDollars(t *testing.T) {
	for micros, want := range map[int64]string{0: "$0.00", 1: "under $0.0001", 50: "$0.0001", 12_345: "$0.0123", 12_350: "$0.0124", 100_000: "$0.10", 123_400: "$0.1234",
		999_949: "$0.9999", 999_950: "$1.00", 1_000_000: "$1.00", 1_234_999: "$1.23", 1_235_000: "$1.24", 2_500_000: "$2.50", 99_999_999: "$100.00",
		math.MaxInt64: "$9223372036854.78"} {
		if got := flow.Dollars(micros); got != want {
			t.Errorf("Dollars(%d) = %s, want %s", micros, got, want)
		}
	}
	s := flow.Spending{Input: 999_949, Output: 1_250_000}
	if got := s.String(); got != "999.9k in/1.2M out" {
		t.Errorf("String = %s", got)
	}
	for millis, want := range map[int64]string{0: "0s", 1: "1ms", 2500: "2.5s", 60_000: "1m", 90_000: "1m30s", 3_600_000: "1h", 5_400_000: "1h30m"} {
		if got := flow.Span(millis); got != want {
			t.Errorf("Span(%d) = %s, want %s", millis, got, want)
		}
	}
}

// TestSpending: what one attempt came to, as far as its tool tells.
func TestSpending(t *testing.T) {
	for want, s := range map[string]*flow.Spending{
		"$0.01, 1.0k in/100 out":          spending(10_000),
		"at least $0.01, 1.0k in/100 out": partly(10_000),
		"1.0k in/100 out":                 {Input: 1000, Output: 100},
		"999 in/0 out":                    {Input: 999, Partial: true},
		"999.9k in/1.0M out":              {Input: 999_949, Output: 999_950},
	} {
		if got := s.String(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestLimitsOfCost names what only an agent that tells its cost can keep to.
func TestLimitsOfCost(t *testing.T) {
	for _, tt := range []struct {
		limits flow.Limits
		want   []string
	}{
		{flow.Limits{MaxMillis: 1, MaxSteps: 1, MaxTaskMillis: 1, MaxTaskSteps: 1}, nil},
		{flow.Limits{MaxCost: 1}, []string{"max_cost"}},
		{flow.Limits{MaxTaskCost: 1}, []string{"max_task_cost"}},
		{flow.Limits{MaxCost: 1, MaxTaskCost: 1}, []string{"max_cost", "max_task_cost"}},
	} {
		if got := tt.limits.OfCost(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.limits, got, tt.want)
		}
	}
}

// TestTimeLeftWithoutAStep: there is no agent whose time could end.
func TestTimeLeftWithoutAStep(t *testing.T) {
	s := after(t, limited(flow.Limits{MaxMillis: 5000}))
	if left, is := s.TimeLeft(); left != 0 || is {
		t.Errorf("%v, %v", left, is)
	}
}

// TestWithheldText names the variables and the setting that passes them (DESIGN, "The contract").
func TestWithheldText(t *testing.T) {
	if got, want := flow.WithheldText([]string{"A_TOKEN", "B_KEY"}, "x.yaml"), "withheld from the agents: A_TOKEN, B_KEY (env.pass in x.yaml passes a variable)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTally: what is not known is not there, rather than nothing.
func TestTally(t *testing.T) {
	for want, u := range map[string]flow.Used{
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
	open := flow.StepStarted{Step: 5, Task: "t1", Role: "Implementor", BoardSHA: "x"}
	four := events(stepOf(1, "t1", 1000, 100), stepOf(2, "t1", 1000, 100), stepOf(3, "t2", 1000, 100), stepOf(4, "t2", 1000, 100))
	for name, tt := range map[string]struct {
		limits flow.Limits
		events []flow.Event
		want   []string
	}{
		"none":                 {flow.Limits{}, four, nil},
		"steps":                {flow.Limits{MaxSteps: 5}, four, []string{"80 % of the limit of 5 steps (max_steps) is used"}},
		"not yet":              {flow.Limits{MaxSteps: 6, MaxCost: 10_001, MaxMillis: 1001}, four, nil},
		"reached":              {flow.Limits{MaxSteps: 4, MaxCost: 8000, MaxMillis: 800}, four, nil},
		"one step":             {flow.Limits{MaxSteps: 1}, nil, nil},
		"cost":                 {flow.Limits{MaxCost: 10_000}, four, []string{"80 % of the limit of $0.01 (max_cost) is used"}},
		"time":                 {flow.Limits{MaxMillis: 1000}, four, []string{"80 % of the limit of 1s (max_duration) is used"}},
		"all but used up":      {flow.Limits{MaxCost: 8001}, four, []string{"80 % of the limit of $0.0080 (max_cost) is used"}},
		"no bound to speak of": {flow.Limits{MaxSteps: math.MaxInt, MaxCost: math.MaxInt64}, four, nil},
		"of another task":      {flow.Limits{MaxTaskSteps: 2, MaxTaskCost: 5000, MaxTaskMillis: 500}, four, nil},
		"of the open step's task": {flow.Limits{MaxTaskSteps: 3, MaxTaskCost: 5000, MaxTaskMillis: 500}, append(four, open), []string{
			"80 % of the limit of $0.0050 for a task (max_task_cost) is used by t1", "80 % of the limit of 500ms for a task (max_task_duration) is used by t1"}},
	} {
		s := after(t, append([]flow.Event{limited(tt.limits)}, tt.events...)...)
		if diff := cmp.Diff(tt.want, s.NearLimits()); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestNotOK: a task is not ok as long as its last reply was not; a step of the
// Manager's own says nothing of it.
func TestNotOK(t *testing.T) {
	said := func(n int, task, status string) []flow.Event {
		events := stepOf(n, task, 1, 1)
		reply := events[2].(flow.ReplyAccepted)
		reply.Status = status
		events[2] = reply
		return events
	}
	own := []flow.Event{flow.StepStarted{Step: 3, Task: "t2", Role: "Manager", BoardSHA: "3"}, attempt(3, flow.ManagerCall, 1),
		flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 3, Call: flow.ManagerCall, Attempt: 1}, Status: "error"}, flow.StepFinished{Step: 3, Manager: "error", BoardSHA: "4"}}
	for name, tt := range map[string]struct {
		events []flow.Event
		want   []flow.TaskStatus
	}{
		"all ok":                    {events(said(1, "t1", "ok"), said(2, "t2", "ok")), nil},
		"one is blocked":            {events(said(1, "t1", "blocked"), said(2, "t2", "ok")), []flow.TaskStatus{{Task: "t1", Status: "blocked"}}},
		"the last reply counts":     {events(said(1, "t1", "blocked"), said(2, "t1", "error")), []flow.TaskStatus{{Task: "t1", Status: "error"}}},
		"in the order of replies":   {events(said(1, "t1", "blocked"), said(2, "t2", "error"), said(3, "t1", "escalate")), []flow.TaskStatus{{Task: "t2", Status: "error"}, {Task: "t1", Status: "escalate"}}},
		"it was done after all":     {events(said(1, "t1", "blocked"), said(2, "t1", "ok")), nil},
		"another was":               {events(said(1, "t1", "blocked"), said(2, "t2", "error"), said(3, "t1", "ok")), []flow.TaskStatus{{Task: "t2", Status: "error"}}},
		"the Manager's own stands":  {events(said(1, "t1", "ok"), said(2, "t2", "blocked"), own), []flow.TaskStatus{{Task: "t2", Status: "blocked"}}},
		"the Manager's own is none": {events(said(1, "t1", "ok"), said(2, "t3", "ok"), own), nil},
	} {
		s := after(t, append([]flow.Event{limited(flow.Limits{})}, tt.events...)...)
		if diff := cmp.Diff(tt.want, s.NotOK); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
