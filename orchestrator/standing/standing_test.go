package standing

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestOf: how a board stands follows from the first of these that fits: a run is at work, it cannot be
// told who ended the board, the records forbid any run, none has run, none has recorded its end, and
// how the last run ended.
func TestOf(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	over := flow.Board{Terminal: true, SHA: "s"}
	is := func(o event.Outcome, text string, statuses ...string) flow.State {
		s := flow.State{Outcome: o, Text: text, Finished: 2, Spent: true, Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}}
		for i, status := range statuses {
			s.Statuses = append(s.Statuses, flow.TaskStatus{Task: list.Paths[i], Status: status})
		}
		return s
	}
	frozen := is("", "", "ok")
	frozen.Frozen = &flow.Freeze{Text: "two owners"}
	asks := is("", "", "ok")
	asks.Frozen = &flow.Freeze{Text: "who ended it?", Asks: true}
	stuck := is(event.Exhausted, "no JSON", "ok")
	stuck.Step = &flow.Step{Task: "b.md", Call: event.TaskCall}
	for name, tt := range map[string]struct {
		state    flow.State
		facts    Facts
		outcome  event.Outcome
		weight   event.Weight
		headline string
	}{
		"at work":                      {is("", "", "ok"), Facts{List: list, Owned: true}, Running, event.Routine, "k.yaml is at work: 1 of 2 tasks done"},
		"at work after a freeze":       {frozen, Facts{List: list, Owned: true}, Running, event.Routine, "k.yaml is at work: 1 of 2 tasks done"},
		"an unknown end":               {is("", ""), Facts{List: list, Unknown: "who?"}, event.NeedsPerson, event.Critical, "k.yaml needs you: who?"},
		"frozen":                       {frozen, Facts{List: list}, event.Frozen, event.Critical, "k.yaml is frozen: two owners"},
		"a person chooses":             {asks, Facts{List: list}, event.NeedsPerson, event.Critical, "k.yaml needs you: who ended it?"},
		"never run":                    {flow.State{}, Facts{List: list, Never: true}, NeverRun, event.Note, "k.yaml was never run"},
		"killed":                       {is("", "", "ok"), Facts{List: list}, event.Interrupted, event.Warning, "k.yaml stopped without an ending: the run was killed"},
		"complete":                     {is(event.Complete, flow.CompleteText, "ok", "before"), Facts{List: list, Board: over}, event.Complete, event.Success, "k.yaml is complete: 2 of 2 tasks done"},
		"complete, without a list":     {is(event.Complete, flow.CompleteText), Facts{}, event.Complete, event.Success, "k.yaml is complete: 2 steps done"},
		"complete, and unreadable now": {is(event.Complete, flow.CompleteText), Facts{Fault: "no YAML"}, event.Invalid, event.Critical, "k.yaml cannot be run: no YAML"},
		"never run, and unreadable":    {flow.State{}, Facts{Never: true, Fault: "no YAML"}, event.Invalid, event.Critical, "k.yaml cannot be run: no YAML"},
		"complete, and longer since": {is(event.Complete, flow.CompleteText, "ok"), Facts{List: list, Board: flow.Board{Terminal: true, SHA: "t"}}, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 task bears no mark: name it as current to begin, or set phase: complete"},
		"complete, and not ok since": {is(event.Complete, flow.CompleteText, "ok", "error"), Facts{List: list, Board: flow.Board{Terminal: true, SHA: "t"}}, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 of 2 tasks is in error: b.md"},
		"with a remark": {is(event.Complete, flow.CompleteText, "ok", "blocked"), Facts{List: listOf(t, "tasks: [a.md, 'b.md [done]']\n"), Board: over}, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 task was marked as done in spite of the reply: b.md (blocked)"},
		"incomplete": {is(event.Incomplete, "old words", "ok", "blocked"), Facts{List: list, Board: over}, event.Incomplete,
			event.Warning, "k.yaml needs you: the board is incomplete: 1 of 2 tasks is blocked: b.md"},
		"incomplete, and gone on with": {is(event.Incomplete, "1 is left", "ok"), Facts{List: list, Current: "b.md"}, event.Incomplete,
			event.Warning, "k.yaml only has to be run again; it had ended with: 1 is left"},
		"needs a person": {is(event.NeedsPerson, "stuck"), Facts{List: list, Board: flow.Board{Terminal: true, Ended: "error"}}, event.NeedsPerson,
			event.Critical, "k.yaml needs you: the board ended with status error, as it says itself"},
		"was frozen":       {is(event.Frozen, "two owners"), Facts{List: list}, event.Frozen, event.Warning, "k.yaml only has to be run again; it had ended with: two owners"},
		"no valid reply":   {stuck, Facts{List: list}, event.Exhausted, event.Critical, "k.yaml needs you: no JSON"},
		"provider":         {is(event.Later, "until 5 pm"), Facts{List: list}, event.Later, event.Warning, "k.yaml waits for its provider: until 5 pm"},
		"limit":            {is(event.LimitReached, "$5.00"), Facts{List: list}, event.LimitReached, event.Warning, "k.yaml stopped (limit reached): $5.00"},
		"signal":           {is(event.Interrupted, "SIGTERM"), Facts{List: list}, event.Interrupted, event.Warning, "k.yaml stopped (interrupted): SIGTERM"},
		"the disk is full": {is(event.Failed, "no space"), Facts{List: list}, event.Failed, event.Critical, "k.yaml stopped (failed): no space"},
	} {
		s := Of("k.yaml", &flow.History{State: tt.state}, &Tasks{}, tt.facts)
		if s.Outcome != tt.outcome || s.Weight != tt.weight || s.Headline() != tt.headline {
			t.Errorf("%s: %s, weight %d: %s", name, s.Outcome, s.Weight, s.Headline())
		}
	}
}

// TestSaid: where a person is needed, the current task or the last one that is not ok has its word: its
// message, or its last line on stderr.
func TestSaid(t *testing.T) {
	tasks := []Task{{Task: "a.md", State: NotOK, Said: "no key"}, {Task: "b.md", State: NotOK, Said: "no wire"}, {Task: "c.md", State: NotOK}, {Task: "d.md", State: Done, Said: "x"}}
	s := Standing{Tasks: tasks}
	if said := s.Said(); said != nil {
		t.Errorf("where nobody is needed: %v", said)
	}
	s.Waits = &Waits{}
	if said := s.Said(); said == nil || said.Task != "b.md" {
		t.Errorf("%v", said)
	}
	tasks[0].spoke = 2 // it said so after the other one
	if said := s.Said(); said == nil || said.Task != "a.md" {
		t.Errorf("%v", said)
	}
	s.Tasks = append([]Task{{Task: "now.md", State: Current, Said: "KeyError"}}, tasks...)
	if said := s.Said(); said == nil || said.Task != "now.md" {
		t.Errorf("with an open step: %v", said)
	}
	var work Tasks
	ref := event.AttemptRef{Task: "a.md", Call: event.TaskCall}
	for stderr, want := range map[string]string{"": "", "one": "one", "one\ntwo\n\n": "two"} {
		work.Add(event.Entry{Event: event.ReplyRejected{AttemptRef: ref, Stderr: stderr}})
		if list := work.List(listOf(t, "tasks: [a.md]\n"), &flow.State{}, ""); list[0].Said != want {
			t.Errorf("%q: %q", stderr, list[0].Said)
		}
	}
	work.Add(event.Entry{Event: event.AttemptStopped{AttemptRef: ref, Stderr: "waiting for db lock\n"}})
	if list := work.List(listOf(t, "tasks: [a.md]\n"), &flow.State{}, ""); list[0].Said != "waiting for db lock" {
		t.Errorf("of one that the watch ended: %q", list[0].Said)
	}
}

// TestDecisions: the last three decisions of a person are kept, with their times.
func TestDecisions(t *testing.T) {
	var tasks Tasks
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, e := range []event.Event{event.Acknowledged{Text: "one"}, event.Acknowledged{Text: "two"}, event.QuarantineEnded{Task: "a.md", Reason: "edited"},
		event.ForcedFinalizeAcked{Board: "b"}, event.QuarantineEnded{Task: "a.md", Reason: "says the Lead", ID: "m"}, event.RunStarted{}} {
		tasks.Add(event.Entry{Time: at.Add(time.Duration(i) * time.Minute), Event: e})
	}
	s := Of("k.yaml", &flow.History{}, &tasks, Facts{})
	if d := s.Decisions; len(d) != 3 || d[0].Text != "two" || !d[0].Time.Equal(at.Add(time.Minute)) || !strings.Contains(d[2].Text, "says the Lead") {
		t.Errorf("%+v", d)
	}
	tasks.Add(event.Entry{Event: event.ReassignProposed{Task: "a.md"}})
	if s := Of("k.yaml", &flow.History{}, &tasks, Facts{}); s.Proposal == nil {
		t.Error("the proposal is lost")
	}
	tasks.Add(event.Entry{Event: event.RunStarted{}})
	if s := Of("k.yaml", &flow.History{}, &tasks, Facts{}); s.Proposal != nil {
		t.Error("a proposal outlives its run")
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
		b.tasks.Add(event.Entry{Event: e})
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
			tasks.Add(event.Entry{Event: event.StepStarted{Task: "a.md", Role: role}})
		}
		got := tasks.List(list, &tt.state, "")
		if len(got) != 1 || got[0].State != tt.want || got[0].Role != "Implementor" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var tasks Tasks
	tasks.Add(event.Entry{Event: event.StepStarted{Task: "a.md", Role: event.ManagerRole}})
	if got := tasks.List(list, &flow.State{}, ""); got[0].Role != event.ManagerRole {
		t.Errorf("a task of the Manager's own: %+v", got)
	}
}

// TestReopened: after the last run a person may decide, edit a board that was complete, or decide about a
// board that was never run. What the board says itself counts then, and who has to act follows.
func TestReopened(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	over, says := flow.Board{Terminal: true, SHA: "s"}, flow.Board{Terminal: true, Ended: flow.EndedIncomplete}
	done := []flow.TaskStatus{{Task: "a.md", Status: flow.StatusAccepted}, {Task: "b.md", Status: flow.StatusAccepted}}
	const decision = "a.md is to be done again, says the Lead"
	for name, tt := range map[string]struct {
		history flow.History
		decided bool
		facts   Facts
		outcome event.Outcome
		who     Who
		what    string
	}{
		"a complete board got a task":   {flow.History{State: flow.State{Outcome: event.Complete, Text: flow.CompleteText}}, false, Facts{List: list, Current: "b.md"}, Reopened, RunAgain, "only has to be run again: it was complete, and has tasks to do again"},
		"a person decided":              {flow.History{State: flow.State{Outcome: event.Interrupted, Text: decision}}, true, Facts{List: list, Current: "a.md"}, Reopened, RunAgain, "only has to be run again: " + decision},
		"a run was stopped since":       {flow.History{State: flow.State{Outcome: event.Interrupted, Text: "SIGTERM"}}, true, Facts{List: list, Current: "a.md"}, event.Interrupted, RunAgain, "stopped (interrupted): SIGTERM"},
		"a clone that waits":            {flow.History{}, false, Facts{Never: true, List: list, Board: says}, event.Incomplete, Decide, "the board is incomplete: 2 of 2 tasks were never worked on: a.md, b.md"},
		"a clone that is complete":      {flow.History{}, false, Facts{Never: true, List: list, Board: over}, NeverRun, Nobody, "never run"},
		"a clone with tasks":            {flow.History{Seq: 1}, true, Facts{Never: true, List: list, Current: "a.md"}, NeverRun, Nobody, "never run"},
		"a clone, all accepted":         {flow.History{Seq: 1, State: flow.State{Statuses: done}}, true, Facts{Never: true, List: list, Board: over}, event.Complete, Nobody, "complete: 2 of 2 tasks done"},
		"unreadable":                    {flow.History{}, false, Facts{Never: true, Fault: "no YAML"}, event.Invalid, Mend, "no YAML"},
		"a full disk":                   {flow.History{State: flow.State{Outcome: event.Failed, Text: "no space"}}, false, Facts{List: list, Current: "a.md"}, event.Failed, Mend, "stopped (failed): no space"},
		"another run has it":            {flow.History{State: flow.State{Outcome: event.Owned, Text: "pid 7"}}, false, Facts{List: list, Current: "a.md"}, event.Owned, Nobody, "stopped (another run has it): pid 7"},
		"a run is at work":              {flow.History{}, false, Facts{Owned: true, List: list}, Running, Nobody, "at work: 0 of 2 tasks done"},
		"a secret that no word settles": {flow.History{State: flow.State{Outcome: event.NeedsPerson, Text: "a key in f.txt"}}, false, Facts{List: list, Current: "a.md"}, event.NeedsPerson, Mend, "a key in f.txt"},
	} {
		var tasks Tasks
		tasks.Add(event.Entry{Time: time.Unix(1, 0), Event: event.RunStarted{}})
		if tt.decided {
			tasks.Add(event.Entry{Time: time.Unix(2, 0), Event: event.Acknowledged{Text: decision}})
		}
		s := Of("k.yaml", &tt.history, &tasks, tt.facts)
		if s.Outcome != tt.outcome || s.Who() != tt.who || s.What() != tt.what {
			t.Errorf("%s: %s, %q: %s", name, s.Outcome, s.Who(), s.What())
		}
		if ended := !s.Ended.IsZero(); ended == (tt.facts.Never || tt.facts.Owned) {
			t.Errorf("%s: ended %s", name, s.Ended)
		}
	}
	tasks := Tasks{decided: decision}
	tasks.Add(event.Entry{Event: event.RunStarted{}})
	if tasks.decided != "" {
		t.Error("a decision outlives the run after it")
	}
}

// TestSetUnreadable: a person mends a journal that cannot be read, whatever it said before, and the report
// to the Lead asks for that.
func TestSetUnreadable(t *testing.T) {
	s := Standing{Board: "k.yaml", Outcome: event.NeedsPerson, Text: "stuck", Steps: 2, Waits: &Waits{Why: "stuck", Choices: []Choice{{Word: event.Retry}}}}
	s.SetUnreadable(errors.New("damaged at byte 7\nand more"))
	if s.Who() != Mend || s.Weight != event.Critical || s.Steps != 2 || s.Headline() != "k.yaml cannot be read: damaged at byte 7" || s.Request() != s.Headline() {
		t.Errorf("%q, weight %d: %s; %s", s.Who(), s.Weight, s.Headline(), s.Request())
	}
	spoiled := Of("k.yaml", &flow.History{}, &Tasks{}, Facts{Fault: "no YAML"})
	if spoiled.Request() != "k.yaml cannot be run: no YAML" {
		t.Errorf("a board that is no YAML: %s", spoiled.Request())
	}
	waits := Of("k.yaml", &flow.History{State: flow.State{Frozen: &flow.Freeze{Text: "changed"}}}, &Tasks{}, Facts{Fault: "no YAML"})
	if !strings.Contains(waits.Request(), "kanban-run ack k.yaml retry") {
		t.Errorf("one that a word puts back: %s", waits.Request())
	}
}
