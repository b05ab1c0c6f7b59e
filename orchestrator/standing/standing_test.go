package standing

import (
	"encoding/json"
	"slices"
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
		"at work after a freeze": {with(flow.State{}, func(s *flow.State) { s.Frozen = frozen }), open, true, Running,
			event.Routine,
			"k.yaml is at work: 1 of 2 tasks done", ""},
		"killed": {flow.State{}, open, false, event.Interrupted, event.Warning,
			"k.yaml stopped without an ending: the run was killed", "the same command goes on"},
		"complete": {ended(event.Complete, flow.CompleteText), done, false, event.Complete, event.Success,
			"k.yaml is complete: 2 of 2 tasks done", ""},
		"complete, no list": {ended(event.Complete, flow.CompleteText), nil, false, event.Complete, event.Success,
			"k.yaml is complete: 2 steps done", ""},
		"left half undone": {ended(event.Complete, flow.CompleteText), open, false, event.Complete, event.Warning,
			"k.yaml: the board is complete, and 1 task was never worked on", ""},
		"incomplete": {ended(event.Incomplete, "the board is incomplete: 1 of 2 tasks is blocked: b.md"), blocked,
			false, event.Incomplete,
			event.Warning, "k.yaml needs you: the board is incomplete: 1 of 2 tasks is blocked: b.md", "kanban-run ack k.yaml shows"},
		"incomplete, and a person has decided": {with(ended(event.Incomplete, "1 is left"),
			func(s *flow.State) { s.Last.Acknowledged = true }), nil, false, event.Incomplete,
			event.Warning, "k.yaml needs you: 1 is left (acknowledged by the Lead)", "kanban-run ack k.yaml shows"},
		"complete, one done before": {ended(event.Complete, flow.CompleteText),
			[]Task{{Task: "a.md", State: Before}, {Task: "b.md", State: Done}}, false, event.Complete,
			event.Success, "k.yaml is complete: 2 of 2 tasks done", ""},
		"complete, a task is blocked": {ended(event.Complete, "the board is complete; 1 of 2 tasks is blocked: b.md"),
			blocked, false, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 of 2 tasks is blocked: b.md", ""},
		"needs a person": {ended(event.NeedsPerson, "the Manager ended the board"), blocked, false, event.NeedsPerson,
			event.Critical,
			"k.yaml needs you: the Manager ended the board", "kanban-run log k.yaml"},
		"needs a person, who has decided": {with(ended(event.NeedsPerson, "b.md is blocked"),
			func(s *flow.State) { s.Last.Acknowledged = true }), blocked, false,
			event.NeedsPerson, event.Critical, "k.yaml needs you: b.md is blocked (acknowledged by the Lead)", "kanban-run log k.yaml"},
		"frozen": {with(ended(event.Complete, flow.CompleteText), func(s *flow.State) { s.Frozen = frozen }), done,
			false, event.Frozen, event.Critical,
			"k.yaml is frozen: two owners", "kanban-run ack -n k.yaml"},
		"frozen, and a person chooses": {with(flow.State{},
			func(s *flow.State) { s.Frozen = &flow.Freeze{Text: "who ended it?", Asks: true} }), open, false,
			event.NeedsPerson, event.Critical, "k.yaml needs you: who ended it?", "kanban-run ack -n k.yaml"},
		"was frozen": {ended(event.Frozen, "two owners"), open, false, event.Frozen, event.Warning,
			"k.yaml was frozen: two owners (acknowledged by the Lead)", "kanban-run ack -n"},
		"no valid reply": {ended(event.Exhausted, "no JSON"), open, false, event.Exhausted, event.Critical,
			"k.yaml needs you: no JSON", "supervisor-log.md has"},
		"provider": {ended(event.Later, "until 5 pm"), open, false, event.Later, event.Warning,
			"k.yaml waits for its provider: until 5 pm", "the same command goes on once"},
		"limit": {ended(event.LimitReached, "$5.00"), open, false, event.LimitReached, event.Warning,
			"k.yaml stopped (limit reached): $5.00", "the same command goes on, with fresh"},
		"signal": {ended(event.Interrupted, "SIGTERM"), open, false, event.Interrupted, event.Warning,
			"k.yaml stopped (interrupted): SIGTERM", "the same command goes on"},
		"the disk is full": {ended(event.Failed, "no space"), open, false, event.Failed, event.Critical,
			"k.yaml stopped (failed): no space", ""},
	} {
		s := Of("k.yaml", flow.History{State: tt.state}, tt.tasks, tt.owned)
		advice := s.Advice("supervisor-log.md")
		if s.Outcome != tt.outcome || s.Weight != tt.weight || s.Headline() != tt.headline {
			t.Errorf("%s: %s, weight %d: %s", name, s.Outcome, s.Weight, s.Headline())
		}
		if !strings.HasPrefix(advice, tt.advice) || tt.advice == "" && advice != "" {
			t.Errorf("%s: the advice is %q", name, advice)
		}
		if said := s.Said(); (said != nil) != ((tt.outcome == event.NeedsPerson || tt.outcome == event.Incomplete) && len(tt.tasks) > 1 && tt.tasks[1].State == NotOK) {
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

// listOf returns the list of a board. headed are the tasks whose header says that they are done.
func listOf(t *testing.T, text string, headed ...string) flow.List {
	t.Helper()
	b := parse(t, text)
	return flow.List{
		Paths:  b.TaskPaths(),
		Find:   b.Finder(),
		Marked: func(i int) bool { return b.Entry(i).Done() },
		Done:   func(i int) bool { return slices.Contains(headed, b.Entry(i).Path) },
	}
}

// book folds events into a state and into the work on tasks.
type book struct {
	t     *testing.T
	state flow.State
	tasks Tasks
}

func (b *book) write(events ...event.Event) {
	b.t.Helper()
	for _, e := range events {
		if err := b.state.Apply(e); err != nil {
			b.t.Fatal(err)
		}
		b.tasks.Add(e)
	}
}

// TestTasks: the states of a board's tasks, by what was journaled of them, by the board's marks and by
// their headers.
func TestTasks(t *testing.T) {
	b := &book{t: t}
	list := listOf(t, "current: d.md\ntasks: [z.md, a.md, b.md, c.md, d.md, 'e.md [done]', f.md, g.md, h.md]\n", "h.md")
	ref := func(step int, task string, call event.Call, attempt int) event.AttemptRef {
		return event.AttemptRef{Step: step, Task: task, Role: "Implementor", Call: call, Attempt: attempt}
	}
	begin := func(step int, task string) {
		b.write(event.StepStarted{Step: step, Task: task, Role: "Implementor"})
	}
	input := json.RawMessage("{}")
	work := func(step int, task, status string, dropped ...string) {
		begin(step, task)
		b.write(event.AttemptStarted{AttemptRef: ref(step, task, event.TaskCall, 1), Input: input},
			event.ReplyRejected{AttemptRef: ref(step, task, event.TaskCall, 1), End: event.End{Millis: 5}},
			event.AttemptStarted{AttemptRef: ref(step, task, event.TaskCall, 2)},
			event.ReplyAccepted{AttemptRef: ref(step, task, event.TaskCall, 2), Status: status, Message: "m",
				End: event.End{Millis: 10}},
			event.AttemptStarted{AttemptRef: ref(step, task, event.ManagerCall, 1), Input: input},
			event.ReplyAccepted{AttemptRef: ref(step, task, event.ManagerCall, 1), Status: "ok",
				End: event.End{Millis: 100}},
			event.StepFinished{Step: step, Task: task, Dropped: dropped})
	}
	b.write(event.RunStarted{DoneBefore: []string{"z.md"}})
	work(1, "a.md", "ok")
	work(2, "b.md", "blocked")
	if n := b.tasks.Rejected(); n != 1 {
		t.Errorf("%d rejected replies in the last step", n)
	}
	begin(3, "c.md")
	b.write(event.StepAbandoned{Step: 3, Task: "c.md"}, event.LoopSuspected{Task: "f.md", Told: true})
	work(4, "gone.md", "ok", "dropped.md", "a.md")
	states := func(current string) string {
		var all []string
		for _, task := range b.tasks.List(list, &b.state, current) {
			all = append(all, task.Task+" "+task.State)
		}
		return strings.Join(all, ", ")
	}
	const before, behind = "z.md done_before, a.md done, b.md not_ok, c.md waiting, ", ", h.md done, dropped.md dropped"
	if got, want := states("d.md"), before+"d.md current, e.md done, f.md quarantined, g.md waiting"+behind; got != want {
		t.Errorf("%s", got)
	}
	begin(5, "g.md")
	if got, want := states("d.md"), before+"d.md waiting, e.md done, f.md quarantined, g.md current"+behind; got != want {
		t.Errorf("with an open step: %s", got)
	}
	b.write(event.StepAbandoned{Step: 5}, event.QuarantineEnded{Task: "f.md"})
	if got, want := states(""), before+"d.md waiting, e.md done, f.md waiting, g.md waiting"+behind; got != want {
		t.Errorf("after the end of the quarantine, on a board that is over: %s", got)
	}
	tasks := b.tasks.List(list, &b.state, "")
	if a := tasks[1]; a.Attempts != 2 || a.Millis != 15 || a.Role != "Implementor" || a.Said != "" {
		t.Errorf("%+v", a)
	}
	if b := tasks[2]; b.Status != "blocked" || b.Said != "m" {
		t.Errorf("%+v", b)
	}
}

// TestFirstTask: what holds of a task holds of the first on the list, too. A task in quarantine goes to
// the Manager, and keeps the role that worked on it.
func TestFirstTask(t *testing.T) {
	list := listOf(t, "tasks: [a.md]\n")
	for name, tt := range map[string]struct {
		state flow.State
		want  string
	}{
		"current":     {flow.State{Step: &flow.Step{Task: "a.md"}}, Current},
		"quarantined": {flow.State{Quarantine: []flow.Quarantine{{Task: "a.md"}}}, Quarantined},
		"put back":    {flow.State{Dropped: []string{"a.md"}}, Waiting},
		"done":        {flow.State{Statuses: []flow.TaskStatus{{Task: "a.md", Status: "ok"}}}, Done},
	} {
		var tasks Tasks
		for _, role := range []string{"Implementor", event.ManagerRole} {
			tasks.Add(event.StepStarted{Task: "a.md", Role: role})
		}
		got := tasks.List(list, &tt.state, "")
		if len(got) != 1 || got[0].State != tt.want || got[0].Role != "Implementor" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var tasks Tasks
	tasks.Add(event.StepStarted{Task: "a.md", Role: event.ManagerRole})
	if got := tasks.List(list, &flow.State{}, ""); got[0].Role != event.ManagerRole {
		t.Errorf("a task of the Manager's own: %+v", got)
	}
}
