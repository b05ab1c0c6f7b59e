package standing

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestOf: how a board stands follows from the first of these that fits: a run is at work, the
// records forbid any run, no run has recorded its end, and how the last run ended.
func TestOf(t *testing.T) {
	done := []Task{{Task: "a.md", State: Done}, {Task: "b.md", State: Done}}
	open := []Task{{Task: "a.md", State: Done}, {Task: "b.md", State: Waiting}}
	blocked := []Task{{Task: "a.md", State: Done}, {Task: "b.md", State: NotOK, Said: "no key"}}
	ended := func(o event.Outcome, text string) flow.State { return flow.State{Outcome: o, Text: text, Finished: 2} }
	with := func(s flow.State, change func(*flow.State)) flow.State {
		change(&s)
		return s
	}
	frozen := &flow.Freeze{Text: "two owners"}
	for name, tt := range map[string]struct {
		state    flow.State
		tasks    []Task
		owned    bool
		outcome  event.Outcome
		weight   event.Weight
		headline string
		advice   string // its first words
	}{
		"at work": {flow.State{}, open, true, Running, event.Routine, "k.yaml is at work: 1 of 2 tasks done", ""},
		"at work after a freeze": {with(flow.State{}, func(s *flow.State) { s.Frozen = frozen }), open, true, Running, event.Routine,
			"k.yaml is at work: 1 of 2 tasks done", ""},
		"killed": {flow.State{}, open, false, event.Interrupted, event.Warning,
			"k.yaml stopped without an ending: the run was killed", "the same command goes on"},
		"complete":          {ended(event.Complete, flow.CompleteText), done, false, event.Complete, event.Success, "k.yaml is complete: 2 of 2 tasks done", ""},
		"complete, no list": {ended(event.Complete, flow.CompleteText), nil, false, event.Complete, event.Success, "k.yaml is complete: 2 steps done", ""},
		"left half undone": {ended(event.Complete, flow.CompleteText), open, false, event.Complete, event.Warning,
			"k.yaml: the board is complete, and 1 task was never worked on", ""},
		"complete, a task is blocked": {ended(event.Complete, "the board is complete; 1 of 2 tasks is blocked: b.md"), blocked, false, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 of 2 tasks is blocked: b.md", ""},
		"needs a person": {ended(event.NeedsPerson, "the Manager ended the board"), blocked, false, event.NeedsPerson, event.Critical,
			"k.yaml needs you: the Manager ended the board", "kanban-run log k.yaml"},
		"needs a person, who has decided": {with(ended(event.NeedsPerson, "b.md is blocked"), func(s *flow.State) { s.Last.Acknowledged = true }), blocked, false,
			event.NeedsPerson, event.Critical, "k.yaml needs you: b.md is blocked (acknowledged by the Lead)", "kanban-run log k.yaml"},
		"frozen": {with(ended(event.Complete, flow.CompleteText), func(s *flow.State) { s.Frozen = frozen }), done, false, event.Frozen, event.Critical,
			"k.yaml is frozen: two owners", "kanban-run ack -n k.yaml"},
		"frozen, and a person chooses": {with(flow.State{}, func(s *flow.State) { s.Frozen = &flow.Freeze{Text: "who ended it?", Asks: true} }), open, false,
			event.NeedsPerson, event.Critical, "k.yaml needs you: who ended it?", "kanban-run ack -n k.yaml"},
		"was frozen":       {ended(event.Frozen, "two owners"), open, false, event.Frozen, event.Warning, "k.yaml was frozen: two owners (acknowledged by the Lead)", "kanban-run ack -n"},
		"no valid reply":   {ended(event.Exhausted, "no JSON"), open, false, event.Exhausted, event.Critical, "k.yaml needs you: no JSON", "supervisor-log.md has"},
		"provider":         {ended(event.Later, "until 5 pm"), open, false, event.Later, event.Warning, "k.yaml waits for its provider: until 5 pm", "the same command goes on once"},
		"limit":            {ended(event.LimitReached, "$5.00"), open, false, event.LimitReached, event.Warning, "k.yaml stopped (limit reached): $5.00", "the same command goes on, with fresh"},
		"signal":           {ended(event.Interrupted, "SIGTERM"), open, false, event.Interrupted, event.Warning, "k.yaml stopped (interrupted): SIGTERM", "the same command goes on"},
		"the disk is full": {ended(event.Failed, "no space"), open, false, event.Failed, event.Critical, "k.yaml stopped (failed): no space", ""},
	} {
		s := Of("k.yaml", flow.History{State: tt.state}, tt.tasks, tt.owned)
		advice := s.Advice("supervisor-log.md")
		if s.Outcome != tt.outcome || s.Weight != tt.weight || s.Headline() != tt.headline {
			t.Errorf("%s: %s, weight %d: %s", name, s.Outcome, s.Weight, s.Headline())
		}
		if !strings.HasPrefix(advice, tt.advice) || tt.advice == "" && advice != "" {
			t.Errorf("%s: the advice is %q", name, advice)
		}
		if said := s.Said(); (said != nil) != (tt.outcome == event.NeedsPerson && len(tt.tasks) > 0 && tt.tasks[1].State == NotOK) {
			t.Errorf("%s: said %v", name, said)
		}
	}
	if s := NotRun("k.yaml", open); s.Outcome != NeverRun || s.Weight != event.Note || s.Headline() != "k.yaml was never run" || s.Advice("") != "" {
		t.Errorf("never run: %+v", s)
	}
}

func parse(t *testing.T, text string) *board.Board {
	t.Helper()
	b, err := board.Parse("k.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTasks: the states of a board's tasks, by what was journaled of them and by the board's marks.
func TestTasks(t *testing.T) {
	b := parse(t, "current: d.md\ntasks: [a.md, b.md, c.md, d.md, 'e.md [done]', f.md, g.md]\n")
	var tasks Tasks
	ref := func(step int, task string, call event.Call) event.AttemptRef {
		return event.AttemptRef{Step: step, Task: task, Role: "Implementor", Call: call, Attempt: 1}
	}
	work := func(step int, task, status string) {
		for _, e := range []event.Event{
			event.StepStarted{Step: step, Task: task, Role: "Implementor"},
			event.AttemptStarted{AttemptRef: ref(step, task, event.TaskCall)},
			event.ReplyRejected{AttemptRef: ref(step, task, event.TaskCall), End: event.End{Millis: 5}},
			event.AttemptStarted{AttemptRef: ref(step, task, event.TaskCall)},
			event.ReplyAccepted{AttemptRef: ref(step, task, event.TaskCall), Status: status, Message: "m", End: event.End{Millis: 10}},
			event.AttemptStarted{AttemptRef: ref(step, task, event.ManagerCall)},
			event.ReplyAccepted{AttemptRef: ref(step, task, event.ManagerCall), Status: "ok", End: event.End{Millis: 100}},
			event.StepFinished{Step: step, Task: task},
		} {
			tasks.Add(e)
		}
	}
	work(1, "a.md", "ok")
	work(2, "b.md", "blocked")
	if n := tasks.Rejected(); n != 1 {
		t.Errorf("%d rejected replies in the last step", n)
	}
	tasks.Add(event.StepStarted{Step: 3, Task: "c.md", Role: "Implementor"})
	tasks.Add(event.StepAbandoned{Step: 3, Task: "c.md"})
	tasks.Add(event.LoopSuspected{Task: "f.md"})
	work(4, "gone.md", "ok")
	states := func(open *flow.Step) string {
		var all []string
		for _, task := range tasks.List(b, open) {
			all = append(all, task.Task+" "+task.State)
		}
		return strings.Join(all, ", ")
	}
	want := "a.md done, b.md not_ok, c.md waiting, d.md current, e.md done, f.md quarantined, g.md waiting"
	if got := states(nil); got != want {
		t.Errorf("%s", got)
	}
	tasks.Add(event.StepStarted{Step: 5, Task: "g.md", Role: "Implementor"})
	want = "a.md done, b.md not_ok, c.md waiting, d.md waiting, e.md done, f.md quarantined, g.md current"
	if got := states(&flow.Step{Task: "g.md"}); got != want {
		t.Errorf("with an open step: %s", got)
	}
	if got := states(nil); !strings.HasSuffix(got, "g.md waiting") {
		t.Errorf("the board has another current task than the last step: %s", got)
	}
	tasks.Add(event.QuarantineEnded{Task: "f.md"})
	if got := states(nil); !strings.Contains(got, "f.md waiting") {
		t.Errorf("after the end of the quarantine: %s", got)
	}
	list := tasks.List(b, nil)
	if a := list[0]; a.Attempts != 2 || a.Millis != 15 || a.Role != "Implementor" || a.Said != "" {
		t.Errorf("%+v", a)
	}
	if b := list[1]; b.Status != "blocked" || b.Said != "m" {
		t.Errorf("%+v", b)
	}
}
