package projection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
)

// TestReviewCalls: a review is an attempt of its own, and its verdict does not end the step: seed
// 003, "Supervisor Feedback".
func TestReviewCalls(t *testing.T) {
	review := func(n int) event.AttemptRef {
		return event.AttemptRef{Step: 1, Call: event.ReviewCall, Attempt: 1, Round: n}
	}
	f := folded(
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: review(1)},
		event.ReviewHeld{AttemptRef: review(1), Feedback: "more", End: event.End{Session: "f1", Millis: 5, Spent: &event.Spending{Input: 3}}},
		event.AttemptStarted{AttemptRef: review(2)},
		event.ReviewHeld{AttemptRef: review(2), Completed: true, Feedback: "good", End: event.End{Session: "f2", Millis: 6, Spent: &event.Spending{Input: 4}}})
	s := f.Steps[0]
	want := []Attempt{
		{Call: event.ReviewCall, Attempt: 1, Round: 1, Began: start.Add(time.Second), Millis: 5, Result: Accepted, Message: "more", SentBack: true,
			Said:    "the reviewer of  is not content (round 1, 5ms) (3 in/0 out): more",
			Session: "f1", Spent: &event.Spending{Input: 3}},
		{Call: event.ReviewCall, Attempt: 1, Round: 2, Began: start.Add(3 * time.Second), Millis: 6, Result: Accepted, Message: "good",
			Said:    "the reviewer of  accepts the work (round 2, 6ms) (4 in/0 out)",
			Session: "f2", Spent: &event.Spending{Input: 4}},
	}
	if diff := cmp.Diff(want, s.Attempts); diff != "" {
		t.Errorf("the attempts differ (-want +got):\n%s", diff)
	}
	if s.SentBack() != 1 || s.Used.Attempts != 2 || s.Used.Input != 7 || s.State != StepOpen || s.Millis != 4000 {
		t.Errorf("step %+v was sent back %d times in %d ms, want once in 4000 ms, and two attempts of 7 tokens", s, s.SentBack(), s.Millis)
	}
}

// TestRestarts: a call that starts afresh says why. An entry that is of no step
// does not move the step's end.
func TestRestarts(t *testing.T) {
	f := folded(
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.CallRestarted{Step: 1, Reason: "the session is gone"},
		event.StateDiverged{Task: "a.md", Source: event.SourceState, Text: "the board differs"},
		event.StateDiverged{Task: "b.md", Source: event.SourceState, Text: "of another step"},
		event.RunInterrupted{})
	want := []string{"the session is gone; the call starts afresh", "the board differs"}
	if s := f.Steps[0]; !slices.Equal(s.Notes, want) || s.Ended != start.Add(2*time.Second) {
		t.Errorf("notes %q, ended %v, want %q and two seconds after the start", s.Notes, s.Ended, want)
	}
}

// TestStatuses: a step that is not finished has the status of each agent that has replied.
func TestStatuses(t *testing.T) {
	f := folded(event.StepStarted{Step: 1})
	accept := func(call event.Call, status string) {
		ref := event.AttemptRef{Step: 1, Call: call}
		fold(f, event.AttemptStarted{AttemptRef: ref}, event.ReplyAccepted{AttemptRef: ref, Status: status, Message: status})
	}
	accept(event.TaskCall, "blocked")
	if s := f.Steps[0]; s.Status != "blocked" || s.Manager != "" || s.Message != "blocked" {
		t.Errorf("step %+v, want the status of the task agent only", s)
	}
	accept(event.ManagerCall, "ok")
	if s := f.Steps[0]; s.Status != "blocked" || s.Manager != "ok" || s.Message != "ok" {
		t.Errorf("step %+v, want both statuses", s)
	}
}

// TestResumedStep: a fold of one run alone has the step that an earlier run began.
func TestResumedStep(t *testing.T) {
	f := folded(event.RunStarted{}, event.AttemptStarted{AttemptRef: work, Command: "x"}, event.StepFinished{Step: 1, Task: "a.md", Role: "Implementor", Status: "ok"},
		event.StepFinished{Step: 2, Task: "b.md", Role: "Architect", Status: "ok"})
	var steps []string
	for _, s := range f.Steps {
		steps = append(steps, fmt.Sprint(s.Step, s.Task, s.Role, len(s.Attempts), s.State))
	}
	if want := []string{"1a.mdImplementor1done", "2b.mdArchitect0done"}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
}

// TestRejections: replies without the right format are counted, and no other attempts.
func TestRejections(t *testing.T) {
	s := Step{Attempts: []Attempt{{Result: Rejected}, {Result: Accepted}, {Result: Stopped}, {Result: Rejected}, {Result: Rejected}}}
	if got := s.Rejections(); got != 3 {
		t.Errorf("Rejections = %d, want 3", got)
	}
}

// TestAttemptsAreBounded: a step that is tried without end keeps its first attempts and its last
// ones, and tells how many are left out.
func TestAttemptsAreBounded(t *testing.T) {
	judged := event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Try: 1000}
	for _, tt := range []struct {
		attempts, judges int
		kept             string
		earlier          int
	}{
		{64, 0, "1-64", 0},
		{65, 0, "1-8 10-65", 1},
		{200, 0, "1-8 145-200", 136},
		{200, 1, "1-8 146-199 1000 200", 137},
	} {
		f := folded(event.StepStarted{Step: 1, Task: "a.md"})
		for i := range tt.attempts {
			ref := work
			ref.Attempt = i + 1
			fold(f, event.AttemptStarted{AttemptRef: ref}, event.ReplyRejected{AttemptRef: ref, Reason: fmt.Sprint(ref.Attempt)})
		}
		for range tt.judges {
			fold(f, judged)
		}
		s := f.Steps[0]
		if got := spans(s.Attempts); got != tt.kept || s.Earlier != tt.earlier || len(s.Attempts) > 64 {
			t.Errorf("of %d attempts and %d judges %d are kept, %s, and %d left out, want %s and %d", tt.attempts, tt.judges, len(s.Attempts), got, s.Earlier, tt.kept, tt.earlier)
		}
		if last := s.Last(); last.Attempt != tt.attempts || last.Reason != fmt.Sprint(tt.attempts) {
			t.Errorf("the last of %d attempts is %+v", tt.attempts, *last)
		}
		if f.Totals.Attempts != tt.attempts+tt.judges || f.Totals.Rejected != tt.attempts {
			t.Errorf("the totals of %d attempts are %+v", tt.attempts, f.Totals)
		}
	}
}

// spans returns the numbers of attempts, such as "1-8 10-65".
func spans(all []Attempt) string {
	var parts []string
	for i := 0; i < len(all); {
		k := i
		for k+1 < len(all) && all[k+1].Attempt == all[k].Attempt+1 {
			k++
		}
		text := fmt.Sprint(all[i].Attempt)
		if k > i {
			text += fmt.Sprint("-", all[k].Attempt)
		}
		parts, i = append(parts, text), k+1
	}
	return strings.Join(parts, " ")
}

// TestRejectionsOfManyAttempts: how many replies of a step were rejected, and how often its work was sent
// back, does not depend on how many of its attempts are kept.
func TestRejectionsOfManyAttempts(t *testing.T) {
	f := folded(event.StepStarted{Step: 1, Task: "a.md"})
	for range 100 {
		fold(f, event.AttemptStarted{AttemptRef: work}, event.ReplyRejected{AttemptRef: work})
	}
	for range 100 {
		fold(f, event.AttemptStarted{AttemptRef: work}, event.ReviewHeld{AttemptRef: work})
	}
	if s := f.Steps[0]; s.Rejections() != 100 || s.SentBack() != 100 {
		t.Errorf("%d rejections, sent back %d times, want 100 each", s.Rejections(), s.SentBack())
	}
}

// TestNotesAreBounded: a step keeps its last 32 notes.
func TestNotesAreBounded(t *testing.T) {
	f := folded(event.StepStarted{Step: 1, Task: "a.md"})
	for i := range 40 {
		fold(f, event.StateDiverged{Task: "a.md", Source: event.SourceState, Text: fmt.Sprint("note ", i+1)})
	}
	if n := f.Steps[0].Notes; len(n) != 32 || n[0] != "note 9" || n[31] != "note 40" {
		t.Errorf("%d notes are kept, from %q to %q, want the last 32", len(n), n[0], n[len(n)-1])
	}
}

// TestTextsAreCut: of each text of an agent at most 4 KiB are kept, without a broken letter.
func TestTextsAreCut(t *testing.T) {
	const most = 4<<10 + len("…")
	long := "x" + strings.Repeat("é", 8<<10)
	reject := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.AttemptStarted{AttemptRef: work},
		event.ReplyRejected{AttemptRef: work, Reason: long, Received: long, Stderr: long, Exit: long, End: event.End{Warning: long}})
	stop := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.AttemptStarted{AttemptRef: work}, event.AttemptStopped{AttemptRef: work, Reason: long, Stderr: long})
	accept := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.AttemptStarted{AttemptRef: work}, event.ReplyAccepted{AttemptRef: work, Status: "blocked", Message: long})
	aside := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.TaskSetAside{Step: 1, Task: "a.md", Reason: long})
	finish := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.StepFinished{Step: 1, Message: long, Warning: long})
	walk := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.ManagerWalked{Step: 1, Status: "ok", Message: long})
	back := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.AttemptStarted{AttemptRef: work}, event.ReviewHeld{AttemptRef: work, Feedback: long})
	sign := folded(event.StepStarted{Step: 1, Task: "a.md"}, event.AttemptStarted{AttemptRef: work}, event.AnomalyFound{AttemptRef: work, Anomaly: event.Anomaly{Details: long}})
	if got := sign.LastAttempt().Watched[0].Text; got != sign.Steps[0].Notes[0] {
		t.Errorf("a sign of %d bytes is not the note of %d bytes, by which a page finds it", len(got), len(sign.Steps[0].Notes[0]))
	}
	for name, text := range map[string]string{
		"sign":                   sign.LastAttempt().Watched[0].Text,
		"reason of a rejection":  reject.LastAttempt().Reason,
		"received":               reject.LastAttempt().Received,
		"stderr of a rejection":  reject.LastAttempt().Stderr,
		"exit":                   reject.LastAttempt().Exit,
		"sentence":               reject.LastAttempt().Said,
		"words of a rejection":   reject.taskOf("a.md").Said,
		"warning":                reject.Steps[0].Notes[0],
		"reason of a stop":       stop.LastAttempt().Reason,
		"stderr of a stop":       stop.LastAttempt().Stderr,
		"message of an attempt":  accept.LastAttempt().Message,
		"message of a step":      accept.Steps[0].Message,
		"words of a task":        accept.taskOf("a.md").Said,
		"reason of a task":       aside.taskOf("a.md").Why,
		"reason of a step":       aside.Steps[0].Aside,
		"note":                   aside.Steps[0].Notes[0],
		"message of the Manager": finish.Steps[0].Message,
		"warning of a step":      finish.Steps[0].Notes[0],
		"message of walk":        walk.Steps[0].Message,
		"feedback":               back.LastAttempt().Message,
	} {
		if len(text) > most || text == "" || !utf8.ValidString(text) {
			t.Errorf("%s: %d bytes are kept, valid: %t, want at most %d", name, len(text), utf8.ValidString(text), most)
		}
	}
	if got := cut(strings.Repeat("x", 4<<10)); len(got) != 4<<10 {
		t.Errorf("a text of 4 KiB became one of %d bytes", len(got))
	}
	if got := cut(long); got != "x"+strings.Repeat("é", 2<<10-1)+"…" {
		t.Errorf("a long text became one of %d bytes: %.5q … %q", len(got), got, got[len(got)-5:])
	}
}

// TestToldAttempt: an open step is told by its last attempt, another one by its work.
func TestToldAttempt(t *testing.T) {
	s := Step{State: StepOpen, Attempts: []Attempt{{Call: event.TaskCall}, {Call: event.ReviewCall}, {Call: event.ManagerCall}}}
	if got := s.Told().Call; got != event.ManagerCall {
		t.Errorf("an open step is told by its %s call", got)
	}
	if s.State = StepDone; s.Told().Call != event.ReviewCall {
		t.Errorf("a step that is done is told by its %s call", s.Told().Call)
	}
	if s.Attempts = s.Attempts[2:]; s.Told() != nil {
		t.Errorf("a step of the Manager alone is told by %+v", *s.Told())
	}
}

// TestStateByStep: the states that steps give to the tasks of a board whose list cannot be read.
func TestStateByStep(t *testing.T) {
	for _, tt := range []struct {
		step   Step
		atWork bool
		want   TaskState
	}{
		{Step{State: StepOpen}, true, Working},
		{Step{State: StepOpen}, false, StoppedAt},
		{Step{State: StepDone, Status: "ok"}, false, Done},
		{Step{State: StepDone}, false, Done},
		{Step{State: StepDone, Status: "blocked"}, false, NotOK},
		{Step{State: StepAbandoned}, false, NotOK},
	} {
		if got := tt.step.TaskState(tt.atWork); got != tt.want {
			t.Errorf("TaskState(%s %q, %t) = %s, want %s", tt.step.State, tt.step.Status, tt.atWork, got, tt.want)
		}
	}
}

// TestUsual: the usual time of an attempt is the median of the accepted ones of its role and call, and is not told of few.
func TestUsual(t *testing.T) {
	of := func(role string, result Result, millis int64) Attempt {
		return Attempt{Role: role, Call: event.TaskCall, Result: result, Millis: millis}
	}
	b := Board{Steps: []Step{{Attempts: []Attempt{of("R", Rejected, 1), of("R", Accepted, 9000)}}, {Attempts: []Attempt{of("R", Accepted, 3000), of("S", Accepted, 1)}}}}
	now := of("R", Started, 0)
	if got := b.Usual(&now); got != "" {
		t.Errorf("of two attempts: %q", got)
	}
	b.Steps = append(b.Steps, Step{Attempts: []Attempt{of("R", Accepted, 60_000), now}})
	if got := b.Usual(&now); got != "9.0s" {
		t.Errorf("of three attempts: %q, want 9.0s", got)
	}
}
