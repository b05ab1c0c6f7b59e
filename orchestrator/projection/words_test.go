package projection

import (
	"slices"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestSaid: where a person is needed, the open step's task or the last one that is not ok has its word: its
// message, or its last line on stderr.
func TestSaid(t *testing.T) {
	tasks := []Task{{Task: "a.md", State: NotOK, Said: "no key"}, {Task: "b.md", State: SetAside, Said: "no wire"}, {Task: "c.md", State: NotOK}, {Task: "d.md", State: Done, Said: "x"}}
	b := Board{Tasks: tasks}
	if said := b.Said(); said != nil {
		t.Errorf("where nobody is needed: %v", said)
	}
	b.Who = Decide
	if said := b.Said(); said == nil || said.Task != "b.md" {
		t.Errorf("%v", said)
	}
	tasks[0].spoke = 2 // it said so after the other one
	if said := b.Said(); said == nil || said.Task != "a.md" {
		t.Errorf("%v", said)
	}
	b.Tasks = append([]Task{{Task: "now.md", State: NotOK, Said: "KeyError"}}, tasks...)
	b.Open = &OpenStep{Task: "now.md"}
	if said := b.Said(); said == nil || said.Task != "now.md" {
		t.Errorf("with an open step: %v", said)
	}
	var f Fold
	list := Facts{List: listOf(t, "tasks: [a.md]\n")}
	shown := func() string { return f.Board("k.yaml", &flow.History{}, list).Tasks[0].Said }
	ref := event.AttemptRef{Task: "a.md", Call: event.TaskCall}
	for stderr, want := range map[string]string{"": "", "one": "one", "one\ntwo\n\n": "two"} {
		fold(&f, event.ReplyRejected{AttemptRef: ref, Stderr: stderr})
		if got := shown(); got != want {
			t.Errorf("%q: %q", stderr, got)
		}
	}
	fold(&f, event.AttemptStopped{AttemptRef: ref, Stderr: "waiting for db lock\n"})
	if got := shown(); got != "waiting for db lock" {
		t.Errorf("of one that the watch ended: %q", got)
	}
}

func TestCulprit(t *testing.T) {
	open := []event.Event{event.StepStarted{Step: 1}, event.StepFinished{Step: 1}, event.StepStarted{Step: 2}}
	for _, tt := range []struct {
		outcome event.Outcome
		events  []event.Event
		want    int
	}{
		{event.Complete, open, 0},
		{event.Exhausted, open, 2},
		{event.Interrupted, open, 2},
		{event.NeedsPerson, open[:2], 1},
		{event.LimitReached, open[:2], 0},
		{event.Frozen, nil, 0},
	} {
		b := Board{Outcome: tt.outcome, Steps: folded(tt.events...).Steps}
		got := 0
		if s := b.Culprit(); s != nil {
			got = s.Step
		}
		if b.Reason.By = event.ByChanged; tt.outcome == event.NeedsPerson && b.Culprit() != nil {
			t.Errorf("a step is the reason why another one was not started")
		}
		if got != tt.want {
			t.Errorf("Culprit(%s after %d events) = step %d, want %d", tt.outcome, len(tt.events), got, tt.want)
		}
	}
}

// TestCulpritOfUndoneTasks: a board that lacks only tasks that are ok names the
// last step of one that is not.
func TestCulpritOfUndoneTasks(t *testing.T) {
	step := func(n int, status, manager string) []event.Event {
		return []event.Event{event.StepStarted{Step: n}, event.StepFinished{Step: n, Status: status, Manager: manager}}
	}
	for _, tt := range []struct {
		steps []event.Event
		want  int
	}{
		{slices.Concat(step(1, "error", "ok"), step(2, "blocked", "ok"), step(3, "ok", "ok")), 2},
		{slices.Concat(step(1, "blocked", "ok"), step(2, "", "ok"), step(3, "ok", "ok")), 1},
		{slices.Concat(step(1, "ok", "ok"), step(2, "ok", "ok")), 2},
		{slices.Concat(step(1, "error", "ok"), step(2, "ok", "blocked")), 2},
		{slices.Concat(step(1, "error", "ok"), step(2, "escalate", "ok")), 2},
	} {
		b := Board{Outcome: event.NeedsPerson, Steps: folded(tt.steps...).Steps}
		if got := b.Culprit(); got == nil || got.Step != tt.want {
			t.Errorf("the culprit of %d events is %+v, want step %d", len(tt.steps), got, tt.want)
		}
	}
}

// TestFailedSteps: a task that failed fails in the last step in which an agent worked on it, and not in one of the
// Manager alone.
func TestFailedSteps(t *testing.T) {
	step := func(n int, task string, calls ...event.Call) Step {
		s := Step{Step: n, Task: task}
		for _, c := range calls {
			s.Attempts = append(s.Attempts, Attempt{Call: c})
		}
		return s
	}
	b := Board{Failed: []string{"./b.md", "a.md", "gone.md"}, Steps: []Step{
		step(1, "a.md", event.TaskCall, event.ManagerCall),
		step(2, "b.md", event.TaskCall),
		step(3, "a.md", event.TaskCall, event.ReviewCall, event.ManagerCall, event.ManagerCall),
		step(4, "a.md", event.ManagerCall),
		step(5, "b.md"),
	}, Tasks: []Task{{Task: "./b.md", Seen: "b.md"}, {Task: "a.md", Seen: "a.md"}, {Task: "gone.md", Seen: "gone.md"}, {Task: "c.md", Seen: "c.md"}}}
	var got []int
	for _, s := range b.FailedSteps() {
		got = append(got, s.Step)
	}
	if want := []int{2, 3}; !slices.Equal(got, want) {
		t.Errorf("FailedSteps = %v, want %v", got, want)
	}
	if a := b.Steps[2].Work(); a == nil || a.Call != event.ReviewCall {
		t.Errorf("Work = %+v, want the review", a)
	}
	if a := b.Steps[3].Work(); a != nil {
		t.Errorf("Work = %+v, want none in a step of the Manager alone", a)
	}
}

// TestProgress: the numbers of tasks in words, without those that left the list done or replaced.
func TestProgress(t *testing.T) {
	b := Board{Totals: Totals{Steps: 3}}
	if got := b.Progress(); got != "3 steps done" {
		t.Errorf("without tasks: %s", got)
	}
	for _, s := range []TaskState{Done, DoneBefore, NotOK, SetAside, Settled, Quarantined, Waiting, NextUp, Working} {
		b.Tasks = append(b.Tasks, Task{State: s})
	}
	b.Tasks = append(b.Tasks, Task{State: Dropped, Left: Dropped}, Task{State: Done, Left: takenOff}, Task{State: Replaced, Left: Replaced})
	if got, want := b.Progress(), "2 of 10 tasks done, 1 of them before, 1 not ok, 1 set aside, 1 skipped, 1 quarantined"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestForetell: the first effect of a run that would start now, in words.
func TestForetell(t *testing.T) {
	for _, tt := range []struct {
		effect  flow.Effect
		want    string
		nothing bool
	}{
		{flow.Spawn{AttemptRef: event.AttemptRef{Step: 2, Call: event.ManagerCall, Task: "a.md", Attempt: 1}}, "step 2: ask the Manager what follows a.md", false},
		{flow.Spawn{AttemptRef: event.AttemptRef{Step: 2, Call: event.ReviewCall, Role: "R", Task: "a.md", Attempt: 3, Round: 1}}, "step 2: have the work of R on a.md reviewed", false},
		{flow.Spawn{AttemptRef: event.AttemptRef{Step: 2, Call: event.TaskCall, Role: "R", Task: "a.md", Attempt: 3, Round: 2}}, "step 2: give a.md to R again", false},
		{flow.WriteBoard{Step: 2}, "step 2: record the Manager's reply on the board", false},
		{flow.SuspectLoop{Task: "a.md", Suspicion: event.Suspicion{Text: "round", Recommend: event.SwapOwner, Reason: "it repeats"}},
			"put a.md into quarantine: round (recommended: swap owner, since it repeats)", false},
		{flow.GiveUpCheckpoint{Reason: "no login"}, "give the supervisor up: no login", false},
		{flow.EndBoard{}, "write onto the board that a checkpoint has ended it", false},
		{flow.Finish{Outcome: event.NeedsPerson}, "nothing until you decide (kanban-run ack), or edit the board", true},
		{flow.Finish{Outcome: event.Complete, Text: flow.CompleteText}, "nothing: the board is complete", true},
	} {
		got := Foretell(tt.effect, &flow.History{})
		if b := (Board{Next: got}); got != tt.want || b.StartsNothing() != tt.nothing {
			t.Errorf("Foretell(%T) = %q, starts nothing: %t, want %q, %t", tt.effect, got, b.StartsNothing(), tt.want, tt.nothing)
		}
	}
	asks := flow.History{State: flow.State{Frozen: &flow.Freeze{Text: "who?", Asks: true}}}
	if got := Foretell(flow.WriteBoard{}, &asks); got != "nothing until you decide (kanban-run ack)" {
		t.Errorf("of a board that asks: %q", got)
	}
	if b := (Board{}); !b.StartsNothing() {
		t.Error("a run of which nothing is known starts an agent")
	}
}

// TestUnreviewed: a complete board says if only its agents tell that the work is done. A review of work that
// was done again since does not count, and work that a supervisor has looked at is not the agents' word alone.
func TestUnreviewed(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	work := event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "R", Attempt: 1}
	review := event.AttemptRef{Step: 1, Call: event.CommandCall, Task: "a.md", Role: "R", Attempt: 1}
	look := event.AttemptRef{Step: 2, Call: event.CheckpointCall, Task: "CHECKPOINT-001", Role: "S", Attempt: 1}
	begin := []event.Event{event.StepStarted{Step: 1, Task: "a.md", Role: "R"}, event.AttemptStarted{AttemptRef: work}}
	accepted, content, not := event.ReplyAccepted{AttemptRef: work, Status: "ok"}, event.ReviewHeld{AttemptRef: review, Completed: true}, event.ReviewHeld{AttemptRef: review}
	held := []event.Event{event.StepStarted{Step: 2, Task: look.Task, Call: look.Call, Checkpoint: &event.Checkpoint{ID: look.Task}}, event.AttemptStarted{AttemptRef: look}}
	for name, tt := range map[string]struct {
		outcome  event.Outcome
		events   []event.Event
		reviewed int
		want     string
	}{
		"none":                       {event.Complete, []event.Event{accepted}, 0, ", none reviewed"},
		"one":                        {event.Complete, []event.Event{accepted, content}, 1, ""},
		"not content":                {event.Complete, []event.Event{accepted, not}, 0, ", none reviewed"},
		"done again since":           {event.Complete, []event.Event{accepted, content, accepted}, 0, ", none reviewed"},
		"a supervisor looked":        {event.Complete, append([]event.Event{accepted}, append(held, event.CheckpointHeld{AttemptRef: look, Data: event.StateUpdate{ID: look.Task, Verdict: "pass"}})...), 0, ""},
		"a supervisor saw nothing":   {event.Complete, append([]event.Event{accepted}, append(held, event.CheckpointHeld{AttemptRef: look, Data: event.StateUpdate{ID: look.Task, Verdict: event.NoVerdict}})...), 0, ", none reviewed"},
		"no work here":               {event.Complete, nil, 0, ""},
		"a board that is incomplete": {event.Incomplete, []event.Event{accepted}, 0, ""},
	} {
		s := stateOn(list, tt.outcome, flow.CompleteText, "ok", "ok")
		b := show(s, Facts{List: list, Board: flow.Board{Terminal: true, SHA: "s"}}, append(slices.Clone(begin), tt.events...)...)
		b.Outcome = tt.outcome
		if got := b.Unreviewed(); got != tt.want || b.Reviewed != tt.reviewed {
			t.Errorf("%s: %q, %d reviewed, want %q, %d", name, got, b.Reviewed, tt.want, tt.reviewed)
		}
	}
}
