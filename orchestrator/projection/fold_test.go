package projection

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

func TestStepsOfAnInterruptedRun(t *testing.T) {
	var f Fold
	next, cost := "b.md", int64(5)
	spent := &event.Spending{Input: 30, Cached: 20, Output: 10, Cost: &cost}
	used := flow.Tally{Used: event.Used{Attempts: 4, Told: 1, Priced: 1, Input: 30, Cached: 20, Output: 10, Cost: 5, Millis: 2400}}
	last := used
	last.Attempts, last.Millis = 2, 1500
	fold(&f,
		event.RunStarted{Workdir: "/w"},
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Role: "Implementor", Attempt: 1}, Command: "x"},
		event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 1}, Reason: "empty", Exit: "exit status 1", Stderr: "oops", Output: "steps/0001", Received: "?", End: event.End{Millis: 900}},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Role: "Implementor", Attempt: 2}, Command: "x"},
		event.AttemptStopped{AttemptRef: event.AttemptRef{Step: 1}, Reason: "the run was stopped"},
		event.RunInterrupted{Outcome: event.Interrupted},
		event.RunStarted{Workdir: "/w"},
		event.CallRestarted{Step: 1, Reason: "the board was edited since the last run"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Role: "Implementor", Attempt: 3}, Command: "x"},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall}, Status: "blocked", Message: "no key", End: event.End{Millis: 800, Session: "s1", Spent: spent}},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Role: "Manager", Attempt: 1}, Command: "y"},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall}, Status: "ok", Message: "b is next", End: event.End{Millis: 700, Warning: "half a character"}},
		event.StepFinished{Step: 1, Status: "blocked", Manager: "ok", Message: "b is next", NextTask: &next, Warning: "the file stands"},
		event.SnapshotTaken{},
		event.StepStarted{Step: 2, Task: "b.md", Role: "Architect"},
		event.StepAbandoned{Step: 2, Reason: "the board was edited"},
	)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	want := Fold{Workdir: "/w", Run: event.RunStarted{Workdir: "/w"}, Runs: 2, Began: at(0), Last: at(16), Records: 17,
		Totals:  Totals{Steps: 1, Attempts: 4, Rejected: 1, Used: used, Millis: 15_000},
		LastRun: Totals{Steps: 1, Attempts: 2, Used: last, Millis: 9_000}, Steps: []Step{
			{Step: 1, Task: "a.md", Role: "Implementor", Began: at(1), Ended: at(13), Millis: 11_000, State: StepDone, Status: "blocked", Manager: "ok", Message: "b is next",
				NextTask: &next, Used: used, Notes: []string{"the board was edited since the last run; the call starts afresh", "half a character", "the file stands"},
				Attempts: []Attempt{
					{Call: event.TaskCall, Role: "Implementor", Attempt: 1, Command: "x", Began: at(2), Millis: 900, Result: Rejected, Reason: "empty",
						Exit: "exit status 1", Received: "?", Stderr: "oops", Output: "steps/0001"},
					{Call: event.TaskCall, Role: "Implementor", Attempt: 2, Command: "x", Began: at(4), Millis: 1000, Result: Stopped, Reason: "the run was stopped"},
					{Call: event.TaskCall, Role: "Implementor", Attempt: 3, Command: "x", Began: at(9), Millis: 800, Result: Accepted, Status: "blocked", Message: "no key",
						Session: "s1", Spent: spent},
					{Call: event.ManagerCall, Role: "Manager", Attempt: 1, Command: "y", Began: at(11), Millis: 700, Result: Accepted, Status: "ok", Message: "b is next"},
				}},
			{Step: 2, Task: "b.md", Role: "Architect", Began: at(15), Ended: at(16), Millis: 1000, State: StepAbandoned, Notes: []string{"given up, the board was edited"}, Attempts: []Attempt{}},
		}}
	if diff := cmp.Diff(want, f, cmpopts.IgnoreUnexported(Fold{}, Step{}), cmpopts.IgnoreFields(Attempt{}, "Said"),
		cmpopts.IgnoreFields(Fold{}, "Alerts", "Actions", "Now")); diff != "" {
		t.Errorf("the fold differs (-want +got):\n%s", diff)
	}
}

// TestTimeOfTheLastRun: the totals of the last run have its time, as those of all runs have theirs.
func TestTimeOfTheLastRun(t *testing.T) {
	f := folded(event.RunStarted{}, event.StepStarted{Step: 1}, event.RunFinished{}, event.RunStarted{}, event.StepFinished{Step: 1})
	if f.Totals.Millis != 3000 || f.LastRun.Millis != 1000 {
		t.Errorf("all runs took %d ms, the last %d ms, want 3000 and 1000", f.Totals.Millis, f.LastRun.Millis)
	}
}

// TestTotals: totals count agents that the watch ended and work that reviews sent back. The time of
// waits for providers is apart from the time of runs (DESIGN, "millis, waited").
func TestTotals(t *testing.T) {
	end := event.End{Millis: 1000, Spent: &event.Spending{Input: 2}}
	review := event.AttemptRef{Step: 1, Call: event.ReviewCall, Task: "a.md", Role: "Implementor", Attempt: 1}
	f := folded(
		event.RunStarted{},
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: work},
		event.RebootTested{AttemptRef: work, Decision: event.Continue},
		event.RebootTested{AttemptRef: work, Decision: event.Assist},
		event.RebootTested{AttemptRef: work, Decision: event.Restart},
		event.AttemptStopped{AttemptRef: work, End: end},
		event.ProviderWait{Step: 1, Task: "a.md"})
	f.Add(event.Entry{Time: f.Last.Add(time.Hour), Event: event.ProviderBack{Step: 1, Task: "a.md", Millis: time.Hour.Milliseconds()}})
	fold(f,
		event.AttemptStarted{AttemptRef: work},
		event.ReplyAccepted{AttemptRef: work, Status: "ok", End: end},
		event.AttemptStarted{AttemptRef: review},
		event.ReviewHeld{AttemptRef: review, End: end},
		event.AttemptStarted{AttemptRef: work},
		event.ReplyRejected{AttemptRef: work, End: end},
		event.AttemptStarted{AttemptRef: work},
		event.ReplyAccepted{AttemptRef: work, Status: "ok", End: end},
		event.AttemptStarted{AttemptRef: review},
		event.ReviewHeld{AttemptRef: review, Completed: true, End: end},
		event.StepFinished{Step: 1, Task: "a.md", Status: "ok", Manager: "ok"},
		event.StepFinished{Step: 2, Task: "CHECKPOINT-001", Checkpoint: "CHECKPOINT-001"},
		event.RunFinished{})
	want := Totals{Steps: 1, Attempts: 6, Rejected: 1, SentBack: 1, Restarts: 1,
		Used:   flow.Tally{Used: event.Used{Attempts: 6, Told: 6, Input: 12, Millis: 6000}},
		Millis: 20_000, Waited: time.Hour.Milliseconds()}
	if diff := cmp.Diff(want, f.Totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	task := f.taskOf("a.md")
	if task.Tries != 4 || task.Reviews != 2 || task.Rejected != 1 || task.SentBack != 1 || task.Restarts != 1 || task.Used.Millis != 6000 {
		t.Errorf("the task is %+v", *task)
	}
}

// TestClockGoesBack: an open step ends with its last entry, and the end of one that
// is done is not moved back.
func TestClockGoesBack(t *testing.T) {
	var f Fold
	add := func(second int, e event.Event) {
		f.Add(event.Entry{Time: start.Add(time.Duration(second) * time.Second), Event: e})
	}
	add(9, event.StepStarted{Step: 1})
	add(5, event.StateDiverged{Text: "the board differs"})
	if got := f.Steps[0].Ended; got != start.Add(5*time.Second) {
		t.Errorf("the open step ended at %v, want second 5", got)
	}
	add(7, event.StepFinished{Step: 1})
	add(6, event.BoardWritten{})
	if got := f.Steps[0].Ended; got != start.Add(7*time.Second) {
		t.Errorf("the step that is done ended at %v, want second 7", got)
	}
}

// TestCountOpen: an attempt counts before its end is known, each time the board is shown.
func TestCountOpen(t *testing.T) {
	var f Fold
	open := flow.History{State: flow.State{Step: &flow.Step{Number: 1, Task: "a.md", Running: 1}}}
	f.Board("b", &open, Facts{})
	fold(&f,
		event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Attempt: 1}})
	want := event.Used{Attempts: 1}
	for range 2 {
		if b := f.Board("b", &open, Facts{}); b.Totals.Used.Used != want || b.LastRun.Used.Used != want || b.Steps[0].Used.Used != want {
			t.Errorf("used %+v, in the last run %+v, in step 1 %+v, want %+v", b.Totals.Used.Used, b.LastRun.Used.Used, b.Steps[0].Used.Used, want)
		}
	}
	fold(&f, event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall}, Status: "ok"})
	open.State.Step.Running = 0
	if b := f.Board("b", &open, Facts{}); b.Totals.Used != f.Totals.Used || b.Totals.Used.Attempts != 1 {
		t.Errorf("used %+v with an attempt that has ended, want %+v", b.Totals.Used, f.Totals.Used)
	}
}

func TestKeepForgetsTheOldest(t *testing.T) {
	f := Fold{Keep: Keep{Steps: 3}}
	for i := range 10 {
		fold(&f, event.StepStarted{Step: i + 1}, event.ReplyAccepted{End: event.End{Spent: &event.Spending{Input: 7}}}, event.StepFinished{Step: i + 1})
	}
	if f.Totals.Used.Input != 70 || f.Steps[0].Used.Input != 7 {
		t.Errorf("used %+v, of a step %+v, want all ten steps and one", f.Totals.Used, f.Steps[0].Used)
	}
	var kept []int
	for _, s := range f.Steps {
		kept = append(kept, s.Step)
	}
	if fmt.Sprint(kept) != "[8 9 10]" || f.Earlier != 7 {
		t.Errorf("kept %v and %d before them, want [8 9 10] and 7", kept, f.Earlier)
	}
}

// TestMemory: with 1,000 steps kept 100,000 records cost at most 8 MB (DESIGN, "Every
// list is bounded by Keep"). The messages have 400 bytes.
func TestMemory(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	f, before := &Fold{Keep: Keep{Steps: 1000, Notices: 50}}, heap()
	f.Add(event.Entry{Time: start, Event: event.RunStarted{}})
	for step := 1; f.Records < 100_000; step++ {
		task, at := fmt.Sprintf("tasks/%d.md", step%20), start.Add(time.Duration(step)*time.Minute)
		text := fmt.Sprintf("%0400d", step)
		ref := event.AttemptRef{Step: step, Call: event.TaskCall, Task: task, Role: "Implementor", Attempt: 1}
		manager := event.AttemptRef{Step: step, Call: event.ManagerCall, Task: task, Role: event.ManagerRole, Attempt: 1}
		for _, e := range []event.Event{
			event.StepStarted{Step: step, Task: task, Role: "Implementor"},
			event.AttemptStarted{AttemptRef: ref, Command: "claude -p", Input: []byte(text)}, event.SessionNamed{AttemptRef: ref, Session: text[:36]},
			event.ReplyRejected{AttemptRef: ref, Reason: text, Exit: "exit status 1"}, event.AttemptStarted{AttemptRef: ref, Command: "claude -p"},
			event.ReplyAccepted{AttemptRef: ref, Status: "ok", Message: text}, event.AttemptStarted{AttemptRef: manager, Command: "claude -p", Input: []byte(text)},
			event.ReplyAccepted{AttemptRef: manager, Status: "ok", Message: text}, event.StateDiverged{Step: step, Task: task, Text: text},
			event.StepFinished{Step: step, Task: task, Status: "ok", Manager: "ok", Message: text},
		} {
			f.Add(event.Entry{Time: at, Event: e})
		}
	}
	if used := int64(heap()) - int64(before); used > 8<<20 || len(f.Steps) != 1000 {
		t.Errorf("%d records cost %d bytes with %d steps kept", f.Records, used, len(f.Steps))
	}
	runtime.KeepAlive(f)
}

// A journal of a board that was never run through, or an entry that is about no step, changes
// nothing else.
func TestEntriesWithoutAStep(t *testing.T) {
	f := folded(event.ReplyAccepted{}, event.AttemptStopped{}, event.HandoffOffered{})
	if len(f.Steps) != 0 || f.Began != start {
		t.Errorf("the fold is %+v", f)
	}
}

// TestPause: the time in which a program was suspended is not time that a run took.
func TestPause(t *testing.T) {
	for wall, want := range map[time.Duration]time.Duration{
		time.Hour:               10 * time.Second, // of work
		11 * time.Second:        11 * time.Second,
		12 * time.Second:        12 * time.Second,
		12*time.Second + 1:      10 * time.Second,
		9 * time.Second:         9 * time.Second,
		10*time.Second + 10_000: 10*time.Second + 10_000,
	} {
		var f Fold
		f.Add(event.Entry{Time: start, Event: event.StepStarted{Step: 1}})
		f.Add(event.Entry{Time: start, Event: event.AttemptStarted{AttemptRef: work}})
		f.Add(event.Entry{Time: start.Add(wall), Event: event.ReplyAccepted{AttemptRef: work, Status: "ok", End: event.End{Millis: 10_000}}})
		if f.Totals.Millis != want.Milliseconds() {
			t.Errorf("an agent that worked 10s within %v took %d ms, want %d", wall, f.Totals.Millis, want.Milliseconds())
		}
	}
	var f Fold
	f.Add(event.Entry{Time: start, Event: event.StepStarted{Step: 1}})
	f.Add(event.Entry{Time: start.Add(time.Hour), Event: event.ReplyAccepted{AttemptRef: work, Status: "ok"}})
	if f.Totals.Millis != time.Hour.Milliseconds() {
		t.Errorf("an end that tells no time took %d ms, want an hour", f.Totals.Millis)
	}
}

// TestEnded: a run ends with its last record. A decision of a person behind it, and what the next
// owner journals before it starts a run, do not move the end.
func TestEnded(t *testing.T) {
	later := func(f *Fold, epoch uint64, events ...event.Event) {
		for _, e := range events {
			f.Add(event.Entry{Time: f.Last.Add(time.Hour), Epoch: epoch, Event: e})
		}
	}
	ack := event.Acknowledged{Text: "it goes on"}
	for name, tt := range map[string]struct {
		events, behind []event.Event
		want           time.Duration // after the start
	}{
		"finished":                     {[]event.Event{event.RunStarted{}, event.RunFinished{}}, []event.Event{ack}, time.Second},
		"interrupted":                  {[]event.Event{event.RunStarted{}, event.RunInterrupted{}}, []event.Event{ack}, time.Second},
		"killed":                       {[]event.Event{event.RunStarted{}, event.StepStarted{Step: 1}}, []event.Event{ack, ack}, time.Second},
		"programs that heard of it":    {[]event.Event{event.RunStarted{}, event.RunFinished{}}, []event.Event{event.BoardLeft{}, event.Pushed{}}, time.Second},
		"decided while it was at work": {[]event.Event{event.RunStarted{}, event.Acknowledged{ID: "m"}, event.StepStarted{Step: 1}}, []event.Event{ack}, 2 * time.Second},
		"killed, with an unknown end": {[]event.Event{event.RunStarted{}, event.StepStarted{Step: 1}},
			[]event.Event{event.AttemptStopped{AttemptRef: work}, event.StateDiverged{Source: event.SourceBoard}, ack}, time.Second},
	} {
		f := folded(tt.events...)
		later(f, 0, tt.behind...)
		took := f.Totals.Millis
		later(f, 1, event.HandoffOffered{})
		b := f.Board("k.yaml", &flow.History{State: flow.State{Workdir: "/w"}}, Facts{})
		if got := b.Ended.Sub(start); got != tt.want || took != tt.want.Milliseconds() {
			t.Errorf("%s: ended %v after the start, and took %d ms, want %v", name, got, took, tt.want)
		}
	}
}
