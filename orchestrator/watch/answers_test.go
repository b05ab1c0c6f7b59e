package watch

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
)

// TestJudgeSpends: each attempt of a judge has its own record with its own use, also where the tool tells the
// sum of a session; the watch adds each to the use of the run.
func TestJudgeSpends(t *testing.T) {
	judged := policy
	judged.Judge = "Judge"
	tell := func(input int64, cumulative bool, e *attempt.Ended) *attempt.Ended {
		e.Session, e.Spent, e.Cumulative = "j", &agent.Spending{Input: input}, cumulative
		return e
	}
	invalid := func() *attempt.Ended { return &attempt.Ended{Failure: contract.Failed("no JSON")} }
	valid := func() *attempt.Ended { return answered(true, true, false, false, true) }
	for name, tt := range map[string]struct {
		ends []*attempt.Ended
		want []int64 // tokens of each record; -1: not known
		used event.Used
	}{
		"both tell":        {[]*attempt.Ended{tell(5, false, invalid()), tell(7, false, valid())}, []int64{5, 7}, event.Used{Attempts: 2, Told: 2, Input: 12}},
		"one tells":        {[]*attempt.Ended{invalid(), tell(7, false, valid())}, []int64{-1, 7}, event.Used{Attempts: 2, Told: 1, Input: 7}},
		"sum of a session": {[]*attempt.Ended{tell(5, true, invalid()), tell(12, true, valid())}, []int64{5, 7}, event.Used{Attempts: 2, Told: 2, Input: 12}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, judged)
			starts := 0
			r.Ask = func(context.Context, context.Context, attempt.Spec) (*attempt.Ended, error) {
				starts++
				return tt.ends[starts-1], nil
			}
			r.check(t, hangs)
			for i, want := range tt.want {
				if err := r.OnJudgement(<-r.Judged); err != nil {
					t.Fatal(err)
				}
				got := int64(-1)
				if e := r.journal.answer; e.Spent != nil {
					got = e.Spent.Input
				}
				if invalid := i+1 < len(tt.want); got != want || r.journal.answer.Try != i+1 || r.journal.answer.Invalid != invalid {
					t.Errorf("record %d: %+v spent %d, want %d", i+1, r.journal.answer, got, want)
				}
			}
			r.used.Millis = 0
			if r.used != tt.used || r.journal.state.Used.Attempts != 2 {
				t.Errorf("used %+v, want %+v", r.used, tt.used)
			}
			r.want(t, "JUDGE_ASKED JUDGE_ANSWERED JUDGE_ASKED JUDGE_ANSWERED")
		})
	}
}

// TestJudgeIsDeclined: design of the classes: what the provider declines, or is too long, is not tried again.
func TestJudgeIsDeclined(t *testing.T) {
	judged := policy
	judged.Judge = "Judge"
	for _, class := range []event.Class{event.ClassDeclined, event.ClassTooLong} {
		r := newRig(t, judged)
		r.Ask = func(context.Context, context.Context, attempt.Spec) (*attempt.Ended, error) {
			return &attempt.Ended{Class: class, Failure: contract.Failed("no")}, nil
		}
		r.check(t, hangs)
		if err := r.OnJudgement(<-r.Judged); err != nil {
			t.Fatal(err)
		}
		r.want(t, "JUDGE_ASKED JUDGE_ANSWERED")
	}
}

// TestJudgeReachesALimit: an attempt of a judge that reaches a limit is the last one, and the evidence decides.
func TestJudgeReachesALimit(t *testing.T) {
	judged := policy
	judged.Judge = "Judge"
	cost := int64(2)
	r := newRig(t, judged)
	r.journal.state.Limits.MaxCost = 1
	r.Ask = func(context.Context, context.Context, attempt.Spec) (*attempt.Ended, error) {
		return &attempt.Ended{Failure: contract.Failed("no JSON"), Spent: &agent.Spending{Cost: &cost}}, nil
	}
	r.check(t, hangs)
	if err := r.OnJudgement(<-r.Judged); err != nil || r.Judged != nil {
		t.Fatalf("%v, and another attempt: %t", err, r.Judged != nil)
	}
	if got := r.journal.answer; got.Try != 0 || !strings.Contains(got.Reason, "max_cost") {
		t.Errorf("answered %+v, want the limit", got)
	}
	r.check(t, hangs)
	r.want(t, "JUDGE_ASKED JUDGE_ANSWERED JUDGE_ANSWERED REBOOT_TESTED", "end 5s 9s")
}

// TestJudgeIsOutOfTime: no attempt of a judge is started, or counted, once its time is over.
func TestJudgeIsOutOfTime(t *testing.T) {
	judged := policy
	judged.Judge, judged.Consent = "Judge", 10*time.Minute
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, judged)
		starts := 0
		r.Ask = func(context.Context, context.Context, attempt.Spec) (*attempt.Ended, error) {
			starts++
			return &attempt.Ended{Failure: contract.Failed("no JSON")}, nil
		}
		r.check(t, hangs)
		end := <-r.Judged
		time.Sleep(11 * time.Minute)
		if err := r.OnJudgement(end); err != nil {
			t.Fatal(err)
		}
		if r.Judged != nil || starts != 1 || r.used.Attempts != 1 || r.journal.state.Used.Attempts != 1 || !strings.Contains(r.journal.answer.Reason, "within 10m") {
			t.Errorf("%d starts, %d attempts, answered %+v", starts, r.used.Attempts, r.journal.answer)
		}
		r.want(t, "JUDGE_ASKED JUDGE_ANSWERED JUDGE_ANSWERED")
	})
}

// TestJudgeCannotBeJournaled: a judge whose record cannot be written is started no more, and nothing waits for it.
func TestJudgeCannotBeJournaled(t *testing.T) {
	judged := policy
	judged.Judge = "Judge"
	for name, ends := range map[string]*attempt.Ended{"its start": nil, "its end": {Failure: contract.Failed("no JSON")}} {
		r := newRig(t, judged)
		r.Ask = func(context.Context, context.Context, attempt.Spec) (*attempt.Ended, error) { return ends, nil }
		full := errors.New("no space left")
		var err error
		if ends == nil {
			r.journal.full = full
			r.program.report = hangs
			err = r.makeTest(silent)
		} else {
			r.check(t, hangs)
			r.journal.full = full
			err = r.OnJudgement(<-r.Judged)
		}
		if !errors.Is(err, full) || r.judge != nil || r.Judged != nil {
			t.Errorf("%s: %v, and the judge %+v", name, err, r.judge)
		}
		r.Dismiss()
	}
}

// TestFrozenAfterLastCheck: time in which nothing could run is said also where the agent ends before another check,
// and where nobody watches it.
func TestFrozenAfterLastCheck(t *testing.T) {
	for _, p := range []health.Policy{policy, {}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, p)
			r.program.frozen = 20 * time.Second
			for range 2 {
				if err := r.End(); err != nil {
					t.Fatal(err)
				}
			}
			if len(r.notices) != 1 || !strings.Contains(r.notices[0], "nothing could run for 20s") {
				t.Errorf("said %q", r.notices)
			}
		})
	}
}

// TestJudgeIsFrozen: time in which nothing could run is none that a judge took, and none of its time to answer.
func TestJudgeIsFrozen(t *testing.T) {
	judged := policy
	judged.Judge = "Judge"
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, judged)
		r.Ask = func(context.Context, context.Context, attempt.Spec) (*attempt.Ended, error) {
			time.Sleep(10 * time.Minute)
			e := answered(true, true, false, false, true)
			e.Frozen, e.Paused = 7*time.Minute, 2*time.Minute
			return e, nil
		}
		r.check(t, hangs)
		if err := r.OnJudgement(<-r.Judged); err != nil || r.journal.answer.Millis != 60_000 {
			t.Errorf("it took %d ms, %v, want a minute", r.journal.answer.Millis, err)
		}
	})
}

// TestReleaseOfOneTask: the Lead may name the task, in any spelling of its path.
func TestReleaseOfOneTask(t *testing.T) {
	r := newRig(t, policy)
	r.journal.state.Quarantine = []flow.Quarantine{{Task: "a.md"}, {Task: "b.md"}}
	r.post(t, inbox.Message{Step: 2, Choice: "release", Task: "./b.md"})
	r.want(t, "QUARANTINE_ENDED")
	if left := r.journal.state.Quarantine; len(left) != 1 || left[0].Task != "a.md" {
		t.Errorf("in quarantine after the release of b.md: %+v, want a.md", left)
	}
}

// TestAnswerThatAsksForHelp: seed 000, "ASSIST": an answer is journaled, and a call for help in it as an anomaly.
// What the agent was only told, and has heard, is no answer.
func TestAnswerThatAsksForHelp(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  agent.Kind
		text  string
		kinds string
	}{
		"it needs help": {agent.Answered, "I need help with the schema", "MESSAGE_HEARD ANOMALY_FOUND"},
		"all is well":   {agent.Answered, "still at work", "MESSAGE_HEARD"},
		"only heard":    {agent.Heard, "I need help", "MESSAGE_HEARD"},
	} {
		r := newRig(t, policy)
		r.post(t, inbox.Message{Step: 2, Text: "how is it?"})
		r.want(t, "MESSAGE_SENT", "tell ")
		id := r.undelivered[0].ID
		if err := r.OnSign(&agent.Event{Kind: tt.kind, ID: id, Text: tt.text}); err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		r.want(t, tt.kinds)
	}
}

// TestClose: a closed watch checks nothing, and its clock stands; one that never checked may be closed, too.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, policy)
		ticks := r.C
		r.Close()
		r.Close()
		time.Sleep(2 * policy.Frequency)
		if r.C != nil || len(ticks) > 0 {
			t.Error("the clock of a closed watch goes on")
		}
		newRig(t, health.Policy{}).Close()
	})
}

// TestActOfFinding: the finding that is acted on tells the act; others, and one whose agent is ended for its busy
// provider instead, tell none.
func TestActOfFinding(t *testing.T) {
	other := health.Finding{Check: health.ProgressStale, Severity: health.Warning, Details: "no progress for 5m"}
	for name, tt := range map[string]struct {
		told    health.Finding
		action  health.Action
		refusal string
		want    string
	}{
		"it is acted on":       {silent, health.Test, "", "the reboot test"},
		"another is acted on":  {other, health.Test, "", ""},
		"the provider refuses": {silent, health.Test, "529 overloaded", ""},
		"ended otherwise":      {silent, health.EndOver, "529 overloaded", "it is ended, and its result counts"},
	} {
		r := newRig(t, policy)
		r.program.refusal = tt.refusal
		if err := r.recordFindings(health.Report{Action: tt.action, On: silent, Told: []health.Finding{tt.told}}); err != nil {
			t.Fatal(err)
		}
		if got := r.journal.last.(event.AnomalyFound).Action; got != tt.want {
			t.Errorf("%s: the act is %q, want %q", name, got, tt.want)
		}
	}
}

// TestHealthFile: a check writes what it found, and a late one, which has found nothing, leaves that as it is.
func TestHealthFile(t *testing.T) {
	r := newRig(t, policy)
	r.check(t, health.Report{Status: "working", Last: time.Now()})
	r.check(t, health.Report{})
	text, err := os.ReadFile(r.Folder.Health())
	if err != nil || !strings.Contains(string(text), "status: working\n") {
		t.Errorf("the file of the health is %q, %v", text, err)
	}
}

// TestSuccessorIsNamed: seed 000, "协助提供": an agent that is given up is told which agent takes its work over.
func TestSuccessorIsNamed(t *testing.T) {
	stuck := policy
	stuck.MaxRestarts = 0
	r := newRig(t, stuck)
	r.journal.state.Reassign = []event.Substitutes{{Role: "Implementor", Agents: []string{"Other"}}}
	r.check(t, hangs)
	r.want(t, "REBOOT_TESTED MESSAGE_SENT", "tell The watch of this run found: Other takes over task #t.md", "end 5s 9s")
	if m := r.journal.last.(event.MessageSent); m.Type != event.AssistOffer || m.Content.Assistance != event.NewMember {
		t.Errorf("told %+v, want an offer of a new member", m)
	}
}

// TestNothingCouldRun: time in which nothing could run is no silence of the agent, also where the check itself came
// in time, and no time that its work took. It is said once.
func TestNothingCouldRun(t *testing.T) {
	idle := policy
	idle.IdleWarning = 2 * time.Minute
	for frozen, want := range map[time.Duration]string{2 * time.Minute: "", 0: "ANOMALY_FOUND ANOMALY_FOUND"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, idle)
			r.tuned, r.expected = true, time.Minute
			trace := health.NewTrace(time.Now())
			r.program.look = func(now time.Time, m *health.Monitor) health.Report { return m.Check(now, trace, nil, false) }
			time.Sleep(150 * time.Second)
			r.program.frozen = frozen
			for range 3 {
				if err := r.Check(); err != nil {
					t.Fatal(err)
				}
			}
			r.want(t, want)
			if said := len(r.notices) == 1 && strings.Contains(r.notices[0], "nothing could run for 2m"); said != (want == "") {
				t.Errorf("frozen for %s: said %q", frozen, r.notices)
			}
		})
	}
}
