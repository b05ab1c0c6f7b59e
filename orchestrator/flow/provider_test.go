package flow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// evening is when the provider refuses the first call.
var evening = time.Date(2026, time.November, 25, 22, 0, 0, 0, time.UTC)

// patient are the limits of a run that waits an hour for a provider that is busy, and six for a limit.
var patient = event.Limits{MaxRetries: 3, BusyMillis: 3600_000, LimitMillis: 6 * 3600_000}

// provider plays a run of one task whose provider refuses its calls.
type provider struct {
	*testing.T
	state flow.State
	board flow.Board
	now   time.Time
}

func refusing(t *testing.T, l event.Limits, more ...event.Substitutes) *provider {
	p := &provider{T: t, board: flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}, now: evening}
	apply(t, &p.state, event.RunStarted{Limits: l, Reassign: more}, one)
	return p
}

// refuse has the next attempt be refused, in no time.
func (p *provider) refuse(class event.Class, reset time.Time, end event.End) {
	p.Helper()
	ref := p.spawn()
	end.Class = class
	apply(p.T, &p.state, event.AttemptStopped{AttemptRef: ref, Reason: "claude: not now",
		Refusal: &event.Refusal{Provider: "claude", At: p.now, Reset: reset}, End: end})
}

func (p *provider) spawn() event.AttemptRef {
	p.Helper()
	e, ok := flow.Next(&p.state, p.board).(flow.Spawn)
	if !ok {
		p.Fatalf("Next = %+v, want an attempt", flow.Next(&p.state, p.board))
	}
	started := event.AttemptStarted{AttemptRef: e.AttemptRef, Adapter: "claude", Resumes: true, From: e.From, GoesOn: e.GoesOn}
	if p.state.Step.Input == nil {
		started.Input = []byte("{}")
	}
	apply(p.T, &p.state, started)
	return e.AttemptRef
}

// wait waits as long as the state says, and returns the time.
func (p *provider) wait() time.Duration {
	p.Helper()
	e, ok := flow.Next(&p.state, p.board).(flow.Wait)
	if !ok {
		p.Fatalf("Next = %+v, want a wait", flow.Next(&p.state, p.board))
	}
	d := e.Until.Sub(p.now)
	p.now = e.Until
	apply(p.T, &p.state, e.ProviderWait, event.ProviderBack{Step: e.Step, Millis: d.Milliseconds()})
	return d
}

// gaveUp reports whether the run ends instead of a wait.
func (p *provider) gaveUp() (e flow.GiveUpWaiting, yes bool) {
	e, yes = flow.Next(&p.state, p.board).(flow.GiveUpWaiting)
	return e, yes
}

// TestPauses: a provider that is busy is asked again after 2, 4, 8 … 300 s until an hour is over, one whose
// limit has no named end then every 15 minutes until six hours are over. None of that costs a retry.
func TestPauses(t *testing.T) {
	for class, want := range map[event.Class]string{
		event.ClassBusy:  "2 4 8 16 32 64 128 256" + strings.Repeat(" 300", 10) + " 90",
		event.ClassLimit: "2 4 8 16 32 64 128 256 300" + strings.Repeat(" 900", 23) + " 90",
	} {
		p, got := refusing(t, patient), ""
		for {
			p.refuse(class, time.Time{}, event.End{})
			if e, yes := p.gaveUp(); yes {
				if !strings.Contains(e.Text, "claude: not now (the run waited ") || e.Busy != (class == event.ClassBusy) {
					t.Errorf("%s: %+v", class, e)
				}
				break
			}
			got += fmt.Sprintf(" %.0f", p.wait().Seconds())
			if len(got) > 2000 {
				t.Fatalf("%s: it waits for ever", class)
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s: it waited\n%s, want\n%s", class, got, want)
		}
		if p.state.Step.Rejected != 0 {
			t.Errorf("%s: %d retries are used up", class, p.state.Step.Rejected)
		}
	}
}

// TestIdleWait: a wait that used up no time, or less than none, is not followed by another one. So no journal
// and no clock lead to a storm of calls.
func TestIdleWait(t *testing.T) {
	for _, millis := range []int64{0, -1, -3600_000} {
		p := refusing(t, patient)
		p.refuse(event.ClassBusy, time.Time{}, event.End{})
		e := flow.Next(&p.state, p.board).(flow.Wait)
		apply(t, &p.state, e.ProviderWait, event.ProviderBack{Step: 1, Millis: millis})
		p.refuse(event.ClassBusy, time.Time{}, event.End{})
		if _, yes := p.gaveUp(); !yes || p.state.Refused.Busy != 0 || p.state.Waited != 0 {
			t.Errorf("after %d ms: Next = %+v, %+v", millis, flow.Next(&p.state, p.board), p.state.Refused)
		}
	}
}

// TestWaitIsSpent: what a wait uses up counts from the refusal, in whole milliseconds. It is never more than was
// granted, and a clock that is set back gives nothing back.
func TestWaitIsSpent(t *testing.T) {
	e := event.ProviderWait{At: evening, Until: evening.Add(10*time.Second + 1)}
	for at, want := range map[time.Duration]int64{-time.Hour: 0, 0: 0, 1: 1, time.Millisecond: 1, 9 * time.Second: 9000, 10*time.Second + 1: 10001, 9 * time.Hour: 10001} {
		if got := e.Spent(evening.Add(at)); got != want {
			t.Errorf("Spent after %v = %d, want %d", at, got, want)
		}
	}
}

// TestReset: a limit is waited for until it ends, and one that ends too late is not waited for at all.
func TestReset(t *testing.T) {
	deadline := func(d time.Duration) event.Limits { l := patient; l.Until = evening.Add(d); return l }
	working := func(d time.Duration) event.Limits { l := patient; l.MaxMillis = d.Milliseconds(); return l }
	for _, tt := range []struct {
		name   string
		limits event.Limits
		in     time.Duration // the end of the limit after the refusal
		want   time.Duration // of the wait; 0: the run ends
	}{
		{"in a moment", patient, 2 * time.Second, 2 * time.Second},
		{"in a while", patient, 90 * time.Second, 90 * time.Second},
		{"within the patience", patient, 6 * time.Hour, 6 * time.Hour},
		{"beyond the patience", patient, 6*time.Hour + time.Second, 0},
		{"on another day", patient, 24 * time.Hour, 0},
		{"a moment ago, as clocks differ", patient, -time.Minute, 2 * time.Second},
		{"no patience", event.Limits{}, time.Second, 0},
		{"beyond the deadline", deadline(time.Hour), 2 * time.Hour, 0},
		{"before the deadline", deadline(3 * time.Hour), 2 * time.Hour, 2 * time.Hour},
		{"beyond max_duration", working(time.Hour), 2 * time.Hour, 0},
		{"within max_duration", working(3 * time.Hour), 2 * time.Hour, 2 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := refusing(t, tt.limits)
			p.refuse(event.ClassLimit, evening.Add(tt.in), event.End{})
			if e, yes := p.gaveUp(); yes {
				if tt.want != 0 || e.Until != evening.Add(tt.in) {
					t.Errorf("Next = %+v, want a wait of %v", e, tt.want)
				}
			} else if got := p.wait(); got != tt.want {
				t.Errorf("it waits %v, want %v", got, tt.want)
			}
		})
	}
}

// TestWaitsCount: waits count for max_duration, which ends the run with its own outcome when it is used up.
func TestWaitsCount(t *testing.T) {
	l := patient
	l.MaxMillis = 5_000
	p := refusing(t, l)
	p.refuse(event.ClassBusy, time.Time{}, event.End{})
	if got := p.wait(); got != 2*time.Second {
		t.Errorf("it waits %v, want 2s", got)
	}
	p.refuse(event.ClassBusy, time.Time{}, event.End{})
	e := flow.Next(&p.state, p.board).(flow.Wait)
	apply(t, &p.state, e.ProviderWait, event.RunInterrupted{Outcome: event.Interrupted, Waited: 1_000}, event.RunStarted{Limits: l})
	p.now = p.now.Add(time.Second)
	p.refuse(event.ClassBusy, time.Time{}, event.End{})
	if got := p.wait(); got != 2*time.Second {
		t.Errorf("it waits %v, want what is left", got)
	}
	want := "the limit of 5s (max_duration) is reached: agents worked 0s, and waited 5s for their provider"
	if e, ok := flow.Next(&p.state, p.board).(flow.Finish); !ok || e.Outcome != event.LimitReached || e.Text != want {
		t.Errorf("Next = %+v, want %q", flow.Next(&p.state, p.board), want)
	}
}

// TestPatienceIsGivenBack: an accepted reply, and an invalid one, begin a new count; so does a run after an
// end with 75. A run that goes on after kill or Ctrl-C asks once before it waits for the rest.
func TestPatienceIsGivenBack(t *testing.T) {
	worked := event.End{Worked: true}
	for _, tt := range []struct {
		name  string
		then  func(*provider)
		since time.Duration // of the first refusal that counts at the next one, after the very first
	}{
		{"refused again", func(*provider) {}, 0},
		{"refused after work", func(p *provider) { p.refuse(event.ClassBusy, time.Time{}, worked); p.wait() }, 0},
		{"a limit, and busy again", func(p *provider) { p.refuse(event.ClassLimit, evening.Add(time.Hour), event.End{}); p.wait() }, time.Hour},
		{"an invalid reply after work", func(p *provider) {
			apply(p.T, &p.state, event.ReplyRejected{AttemptRef: p.spawn(), End: worked})
		}, 2 * time.Second},
		{"an accepted reply", func(p *provider) {
			apply(p.T, &p.state, event.ReplyAccepted{AttemptRef: p.spawn(), Status: "ok"})
		}, 2 * time.Second},
		{"a run that was killed", func(p *provider) {
			p.refuse(event.ClassBusy, time.Time{}, event.End{})
			apply(p.T, &p.state, event.RunStarted{Limits: patient})
		}, 0},
		{"a run that ended with 75", func(p *provider) {
			apply(p.T, &p.state, event.RunInterrupted{Outcome: event.Later}, event.RunStarted{Limits: patient})
		}, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := refusing(t, patient)
			p.refuse(event.ClassBusy, time.Time{}, event.End{})
			p.wait()
			tt.then(p)
			p.refuse(event.ClassBusy, time.Time{}, event.End{})
			if got := p.state.Refused.Since.Sub(evening); got != tt.since {
				t.Errorf("the wait counts since %v, want %v", got, tt.since)
			}
		})
	}
}

// TestWorkBeforeRefusals: an agent that works and then meets a busy provider, again and again, ends with the
// patience, for each of its attempts costs money. A limit that lets it work in between is waited for as often
// as it is reached.
func TestWorkBeforeRefusals(t *testing.T) {
	for class, most := range map[event.Class]int{event.ClassBusy: 19, event.ClassLimit: 100} {
		p, tries := refusing(t, patient), 0
		for ; tries < 100; tries++ {
			p.refuse(class, p.now.Add(time.Hour), event.End{Worked: true})
			if class == event.ClassBusy {
				p.state.Refused.Reset = time.Time{}
			}
			if _, yes := p.gaveUp(); yes {
				break
			}
			p.wait()
		}
		if tries > most || class == event.ClassLimit && tries != most {
			t.Errorf("%s: it was asked %d times, want %d", class, tries, most)
		}
	}
}

// TestAskedEarly: a run that goes on after a kill asks once. It waits for the end of the limit then, and
// counts no more than the wait that was broken off, however long nothing ran.
func TestAskedEarly(t *testing.T) {
	p := refusing(t, patient)
	for i := range 8 { // as often as makes the longest pause
		p.now = evening.Add(time.Duration(i) * time.Second)
		p.refuse(event.ClassLimit, evening.Add(time.Minute), event.End{})
		e, ok := flow.Next(&p.state, p.board).(flow.Wait)
		if !ok || !e.Named || e.Until != evening.Add(time.Minute) {
			t.Fatalf("Next = %+v, want a wait until the end of the limit", flow.Next(&p.state, p.board))
		}
		apply(t, &p.state, e.ProviderWait, event.RunStarted{Limits: patient})
	}
	p.now = evening.Add(9 * time.Hour)
	p.refuse(event.ClassLimit, time.Time{}, event.End{})
	if got := time.Duration(p.state.Refused.Limit) * time.Millisecond; got > 2*time.Minute {
		t.Errorf("%v of the night count as waited", got)
	}
	p.wait()
}

// TestEditDuringAWait: a person may edit the board while a call waits, as between two runs. The Manager's call
// starts afresh, so that the edit is not taken for its own, and work that was cut short keeps its session.
func TestEditDuringAWait(t *testing.T) {
	edited := flow.Board{Task: "t1", Role: "Implementor", SHA: "b"}
	reopen := func(p *provider, b flow.Board) (kinds []string) {
		err := flow.ReopenAfterWait(&p.state, b, func() (flow.Board, error) { return b, nil }, func(e event.Event) error {
			kinds = append(kinds, e.Kind())
			return p.state.Apply(e)
		})
		if err != nil {
			t.Fatal(err)
		}
		return kinds
	}
	p := refusing(t, patient)
	p.refuse(event.ClassBusy, time.Time{}, event.End{Session: "s1", Worked: true})
	p.wait()
	if got := fmt.Sprint(reopen(p, p.board), reopen(p, edited), reopen(p, edited)); got != "[] [STATE_DIVERGENCE] []" {
		t.Errorf("a task's call: %s", got)
	}
	if e := flow.Next(&p.state, edited).(flow.Spawn); e.From != "s1" {
		t.Errorf("Next = %+v, want the session", e)
	}
	if got := fmt.Sprint(reopen(p, flow.Board{Task: "t2", Role: "Implementor", SHA: "c"})); got != "[STATE_DIVERGENCE STEP_ABANDONED]" {
		t.Errorf("another task is current: %s", got)
	}

	p = refusing(t, patient)
	apply(t, &p.state, event.ReplyAccepted{AttemptRef: p.spawn(), Status: "ok"})
	ref := flow.Next(&p.state, p.board).(flow.Spawn).AttemptRef
	apply(t, &p.state, event.AttemptStarted{AttemptRef: ref, Input: []byte("{}"), Before: &event.Baseline{BoardSHA: "a", Current: "t1"}},
		event.AttemptStopped{AttemptRef: ref, Refusal: &event.Refusal{Provider: "claude", At: p.now},
			End: event.End{Class: event.ClassBusy, Left: "a"}})
	p.wait()
	if got := fmt.Sprint(reopen(p, p.board), reopen(p, edited)); got != "[] [CALL_RESTARTED]" || p.state.Step.Before != nil {
		t.Errorf("the Manager's call: %s, %+v", got, p.state.Step.Before)
	}
}

// TestShareWait: a board waits with another one of its provider as far as it would for itself.
func TestShareWait(t *testing.T) {
	bounded := func(l event.Limits) event.Limits { l.MaxMillis = 5_000; return l }
	other := event.Substitutes{Role: "Implementor", Agents: []string{"stub"}}
	for _, tt := range []struct {
		name  string
		p     *provider
		class event.Class
		in    time.Duration
		want  bool
	}{
		{"within the patience", refusing(t, patient), event.ClassLimit, time.Hour, true},
		{"beyond it", refusing(t, patient), event.ClassBusy, 2 * time.Hour, false},
		{"beyond max_duration", refusing(t, bounded(patient)), event.ClassLimit, time.Minute, false},
		{"with another agent for a limit", refusing(t, patient, other), event.ClassLimit, time.Minute, false},
		{"with another agent, busy", refusing(t, patient, other), event.ClassBusy, time.Minute, true},
	} {
		e := event.ProviderWait{Class: tt.class, Until: evening.Add(tt.in)}
		if got := tt.p.state.MayShareWait(e, evening); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestWaitForOneModel: a wait for the allowance of one model names it, and so does its end.
func TestWaitForOneModel(t *testing.T) {
	p := refusing(t, patient)
	p.refuse(event.ClassLimit, time.Time{}, event.End{})
	p.state.Refused.Model = "large"
	wait, waits := flow.Next(&p.state, p.board).(flow.Wait)
	if want := "waits for claude's limit of the model large and asks again at"; !waits || wait.Model != "large" || !strings.HasPrefix(wait.Waits(), want) {
		t.Errorf("Next = %+v, want %q", wait, want)
	}
	p.state.Limits.LimitMillis = 0
	if end, ends := flow.Next(&p.state, p.board).(flow.GiveUpWaiting); !ends || !end.Model {
		t.Errorf("Next = %+v, want an end for the limit of a model", flow.Next(&p.state, p.board))
	}
}

// TestWaitGoesOnWhereItWas: work that the provider broke off goes on in its session, and a call that it
// refused from the start gets the same bytes.
func TestWaitGoesOnWhereItWas(t *testing.T) {
	for _, worked := range []bool{false, true} {
		p := refusing(t, patient)
		p.refuse(event.ClassBusy, time.Time{}, event.End{Session: "s1", Worked: worked})
		p.wait()
		if e := flow.Next(&p.state, p.board).(flow.Spawn); e.GoesOn != worked || worked != (e.From == "s1") {
			t.Errorf("worked: %t: Next = %+v", worked, e)
		}
	}
}

// TestLimitHandsOver: at a limit of the account the next agent of the settings takes over; a provider that is
// only busy is waited for.
func TestLimitHandsOver(t *testing.T) {
	for _, class := range []event.Class{event.ClassLimit, event.ClassBusy} {
		p := refusing(t, patient, event.Substitutes{Role: "implementor", Agents: []string{"codex"}})
		p.refuse(class, time.Time{}, event.End{})
		e, ok := flow.Next(&p.state, p.board).(flow.Reassign)
		if ok != (class == event.ClassLimit) {
			t.Fatalf("%s: Next = %+v", class, flow.Next(&p.state, p.board))
		} else if !ok {
			continue
		}
		apply(t, &p.state, event.Reassigned{Step: 1, Task: "t1", Call: event.TaskCall, Number: e.Number, To: e.To})
		p.refuse(event.ClassLimit, time.Time{}, event.End{})
		if got := p.wait(); got != 2*time.Second {
			t.Errorf("the last agent's provider is waited for %v, want 2s", got)
		}
	}
}

// TestCutWorkGoesOn: design of the classes: work that was cut off goes on in its session if it made progress,
// and costs a retry. Two attempts in a session that do nothing are enough.
func TestCutWorkGoesOn(t *testing.T) {
	p := refusing(t, patient)
	reject := func(class event.Class, worked bool) {
		t.Helper()
		apply(t, &p.state, event.ReplyRejected{AttemptRef: p.spawn(), Reason: "boom", End: event.End{Session: "s1", Class: class, Worked: worked}})
	}
	want := func(from string, rejected int) {
		t.Helper()
		if e, ok := flow.Next(&p.state, p.board).(flow.Spawn); !ok || e.From != from || e.GoesOn != (from != "") || p.state.Step.Rejected != rejected {
			t.Errorf("Next = %+v after %d retries, want session %q and %d retries", flow.Next(&p.state, p.board), p.state.Step.Rejected, from, rejected)
		}
	}
	reject(event.ClassCut, false)
	want("", 1)
	reject(event.ClassCut, true)
	want("s1", 2)
	reject(event.ClassFormat, false)
	want("s1", 3)
	p.state.Step.Rejected = 1 // retries of which the rest of this test needs more
	reject(event.ClassFormat, false)
	want("", 2)
	if !strings.Contains(p.state.Step.Advice, "boom") || p.state.Step.Input != nil {
		t.Errorf("advice %q, input %s, want a fresh input that tells why", p.state.Step.Advice, p.state.Step.Input)
	}
}

// TestTooLong: a session that does not fit any more is begun afresh, once for a call without a retry.
func TestTooLong(t *testing.T) {
	p := refusing(t, patient)
	for i, rejected := range []int{0, 1, 2} {
		apply(t, &p.state, event.ReplyRejected{AttemptRef: p.spawn(), Reason: "Prompt is too long", End: event.End{Session: "s1", Class: event.ClassTooLong}})
		if e, ok := flow.Next(&p.state, p.board).(flow.Spawn); !ok || e.GoesOn || p.state.Step.Rejected != rejected {
			t.Errorf("attempt %d: Next = %+v after %d retries, want a fresh start and %d", i+1, e, p.state.Step.Rejected, rejected)
		}
	}
}
