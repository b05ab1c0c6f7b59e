package flow_test

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/flow"
)

// apply goes on from a state.
func apply(t *testing.T, s *flow.State, events ...flow.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
}

func dollars(micros int64) *flow.Spending {
	return &flow.Spending{Input: micros / 10, Output: 1, Cost: &micros}
}

// TestReviews: seed 003, "Supervisor 主循环". What an attempt with reviews came to is charged once,
// also when it never came to its end.
func TestReviews(t *testing.T) {
	var s flow.State
	apply(t, &s, flow.RunStarted{Limits: flow.Limits{MaxRetries: 3}}, flow.StepStarted{Step: 1, Task: "t1", Role: "Implementor"},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Input: []byte("{}")},
		flow.WorkFinished{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 1}, Spent: dollars(60), Worked: 1000},
		flow.ReviewHeld{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 1}, Spent: dollars(100), Worked: 1500},
		flow.WorkFinished{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 2}, Spent: dollars(200), Worked: 2500},
		flow.VerdictMissed{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 2}, Try: 1, Of: 4, Spent: dollars(230), Worked: 2700},
		flow.ReviewHeld{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 2}, Spent: dollars(250), Worked: 3000})
	if s.Used.Cost != 250 || s.Used.Attempts != 0 || s.Used.Millis != 3000 || s.Step.Paid == nil {
		t.Errorf("used %+v, want what the attempt came to so far", s.Used)
	}
	died := s
	apply(t, &died, flow.AttemptStopped{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Millis: s.Step.Worked, Spent: s.Step.Paid.Unfinished()})
	if died.Used.Cost != 250 || died.Used.Millis != 3000 || died.Used.Attempts != 1 || died.Step.Paid != nil || died.Used.Money() != "at least $0.0003" {
		t.Errorf("used %+v, %s, after the run died, want what is known", died.Used, died.Used.Money())
	}
	apply(t, &s, flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Status: "ok", Spent: dollars(300), Millis: 3100})
	if s.Used.Cost != 300 || s.Used.Millis != 3100 || s.Used.Input != 30 || s.Used.Attempts != 1 || s.Used.Priced != 1 {
		t.Errorf("used %+v, want each cent once", s.Used)
	}
	apply(t, &s, flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ManagerCall, Attempt: 1}, Input: []byte("{}"), Before: &flow.Baseline{}},
		flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ManagerCall, Attempt: 1}, Status: "ok", Spent: dollars(50)})
	if s.Used.Cost != 350 {
		t.Errorf("used %+v, want what the next attempt came to, too", s.Used)
	}
}

// TestOpenAttemptIsUnknown: until an attempt has an outcome, what it comes to is not known,
// and what it has told counts.
func TestOpenAttemptIsUnknown(t *testing.T) {
	var s flow.State
	begun := []flow.Event{flow.RunStarted{Limits: flow.Limits{MaxRetries: 3, MaxCost: 1}}, flow.StepStarted{Step: 1, Task: "t1", Role: "Implementor"},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Input: []byte("{}")}}
	says := func(money, tokens, json string) {
		t.Helper()
		used, total := s.Known()
		got, err := flow.Tally{Used: used}.MarshalJSON()
		if used.Money() != money || used.Tokens() != tokens || used != total || err != nil || !strings.HasPrefix(string(got), json) {
			t.Errorf("used %s, %q, %s, want %s, %q, %s", used.Money(), used.Tokens(), got, money, tokens, json)
		}
	}
	says("$0.00", "", `{"cost":"$0.00","cost_microusd":0,`)
	apply(t, &s, begun...)
	says("unknown", "", `{"cost":"unknown","attempts":1,"attempts_without_cost":1,`)
	working := s
	apply(t, &s, flow.WorkFinished{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 1}, Spent: &flow.Spending{Input: 1000, Output: 50}})
	says("unknown", "1.0k in/50 out", `{"cost":"unknown","input_tokens":1000,`)
	s = working
	apply(t, &s, flow.WorkFinished{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 1}, Spent: dollars(5000)})
	says("at least $0.0050", "500 in/1 out", `{"cost":"at least $0.0050","cost_microusd":5000,"input_tokens":500,`)
	apply(t, &s, flow.ReviewHeld{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 1}, Spent: dollars(6000).Unfinished()})
	apply(t, &s, flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Status: "ok", Spent: dollars(7000)})
	says("$0.0070", "700 in/1 out", `{"cost":"$0.0070",`)
}

// TestReviewFailed: a supervisor that is not content within its rounds needs a person, and the
// next run asks the agent anew.
func TestReviewFailed(t *testing.T) {
	var s flow.State
	apply(t, &s, flow.RunStarted{Limits: flow.Limits{MaxRetries: 3}}, flow.StepStarted{Step: 1, Task: "t1", Role: "Implementor"},
		flow.AttemptStarted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Input: []byte("{}")},
		flow.ReviewHeld{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1, Round: 1}},
		flow.ReviewFailed{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}, Rounds: 1, Reason: "not content"})
	if !s.GoesOn() {
		t.Error("GoesOn() = false, want that the next run asks the agent anew")
	}
	end, ok := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Finish)
	if !ok || end.Outcome != flow.NeedsPerson || !strings.Contains(end.Text, "not content") {
		t.Fatalf("Next = %+v, want a person to be asked", end)
	}
	apply(t, &s, flow.RunFinished{Outcome: flow.NeedsPerson, Text: "not content"}, flow.RunStarted{Limits: flow.Limits{MaxRetries: 3}})
	if start, ok := flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor"}).(flow.Spawn); !ok || start.Attempt != 2 || start.Call != flow.TaskCall {
		t.Errorf("Next = %+v, want the agent to be asked anew", start)
	}
}

// TestReviewsOfNobody: a review belongs to the attempt that is running.
func TestReviewsOfNobody(t *testing.T) {
	for _, e := range []flow.Event{flow.WorkFinished{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}}, flow.ReviewHeld{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}},
		flow.VerdictMissed{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}}, flow.ReviewFailed{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.TaskCall, Attempt: 1}}} {
		var s flow.State
		if s.Apply(e) == nil {
			t.Errorf("%s was taken without a step", e.Kind())
		}
		apply(t, &s, flow.RunStarted{}, flow.StepStarted{Step: 1, Task: "t1", Role: "Implementor"})
		if s.Apply(e) == nil {
			t.Errorf("%s was taken without an attempt", e.Kind())
		}
	}
}
