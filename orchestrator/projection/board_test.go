package projection

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// twoSteps are the steps of which boards without a list tell.
var twoSteps = []event.Event{event.StepFinished{Step: 1, Status: "ok", Manager: "ok"}, event.StepFinished{Step: 2, Status: "ok", Manager: "ok"}}

// TestBoard: how a board stands follows from the first of these that fits: a run is at work, it cannot be
// told who ended the board, the records forbid any run, none has run, none has recorded its end, and
// how the last run ended.
func TestBoard(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	over := flow.Board{Terminal: true, SHA: "s"}
	is := func(o event.Outcome, text string, statuses ...string) flow.State {
		return stateOn(list, o, text, statuses...)
	}
	atWork := is("", "", "ok")
	atWork.Running, atWork.Spent = true, false
	frozen := is("", "", "ok")
	frozen.Frozen = &flow.Freeze{Text: "two owners"}
	thawed := atWork
	thawed.Frozen = frozen.Frozen
	asks := is("", "", "ok")
	asks.Frozen = &flow.Freeze{Text: "who ended it?", Asks: true}
	stuck := is(event.Exhausted, "no JSON", "ok")
	stuck.Step = &flow.Step{Task: "b.md", Call: event.TaskCall}
	waits := atWork
	waits.BlockedBy = "waits for other.yaml"
	consents := atWork
	consents.Step = &flow.Step{Number: 3, Task: "b.md", Role: "R", Call: event.TaskCall, Consent: &flow.Consent{Decision: event.Restart, Text: "no sign"}}
	for name, tt := range map[string]struct {
		state    flow.State
		facts    Facts
		want     State
		outcome  event.Outcome
		weight   event.Weight
		headline string
	}{
		"at work":                      {atWork, Facts{List: list, Owned: true}, Running, "", event.Routine, "k.yaml is at work: 1 of 2 tasks done"},
		"at work after a freeze":       {thawed, Facts{List: list, Owned: true}, Running, "", event.Routine, "k.yaml is at work: 1 of 2 tasks done"},
		"begins":                       {flow.State{}, Facts{List: list, Owned: true, Never: true}, Running, "", event.Routine, "k.yaml is at work: 0 of 2 tasks done"},
		"queued":                       {is(event.LimitReached, "a limit", "ok"), Facts{List: list, Owned: true, Queued: true}, Queued, "", event.Note, "k.yaml is queued: a run has it, and has not begun on it; 1 of 2 tasks done"},
		"queued behind a kill":         {atWork, Facts{List: list, Owned: true, Queued: true}, Queued, "", event.Note, "k.yaml is queued: a run has it, and has not begun on it; 1 of 2 tasks done"},
		"waits for another board":      {waits, Facts{List: list, Owned: true}, Pending, "", event.Routine, "k.yaml waits for other.yaml; 1 of 2 tasks done"},
		"waits for consent":            {consents, Facts{List: list, Owned: true}, Pending, "", event.Warning, "k.yaml waits for your consent: step 3, 1 of 2 tasks done"},
		"an unknown end":               {is("", ""), Facts{List: list, Unknown: "who?"}, Ended, event.NeedsPerson, event.Critical, "k.yaml needs you: who?"},
		"frozen":                       {frozen, Facts{List: list}, Ended, event.Frozen, event.Critical, "k.yaml is frozen: two owners"},
		"a person chooses":             {asks, Facts{List: list}, Ended, event.NeedsPerson, event.Critical, "k.yaml needs you: who ended it?"},
		"never run":                    {flow.State{}, Facts{List: list, Never: true}, NeverRun, "", event.Note, "k.yaml was never run"},
		"never run, and refused":       {flow.State{}, Facts{List: list, Never: true, Refused: "no role X"}, NeverRun, "", event.Critical, "k.yaml cannot be run: no role X"},
		"killed":                       {is("", "", "ok"), Facts{List: list}, Ended, event.Interrupted, event.Warning, "k.yaml stopped without an ending: the run was killed"},
		"complete":                     {is(event.Complete, flow.CompleteText, "ok", "before"), Facts{List: list, Board: over}, Ended, event.Complete, event.Success, "k.yaml is complete: 2 of 2 tasks done, 1 of them before"},
		"complete, without a list":     {is(event.Complete, flow.CompleteText), Facts{}, Ended, event.Complete, event.Success, "k.yaml is complete: 2 steps done"},
		"complete, and unreadable now": {is(event.Complete, flow.CompleteText), Facts{Fault: "no YAML"}, Ended, event.Invalid, event.Critical, "k.yaml cannot be run: no YAML"},
		"never run, and unreadable":    {flow.State{}, Facts{Never: true, Fault: "no YAML"}, NeverRun, event.Invalid, event.Critical, "k.yaml cannot be run: no YAML"},
		"complete, and longer since": {is(event.Complete, flow.CompleteText, "ok"), Facts{List: list, Board: flow.Board{Terminal: true, SHA: "t"}}, Ended, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 task bears no mark: name it as current to begin, or set phase: complete"},
		"complete, and not ok since": {is(event.Complete, flow.CompleteText, "ok", "error"), Facts{List: list, Board: flow.Board{Terminal: true, SHA: "t"}}, Ended, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 of 2 tasks is in error: b.md"},
		"with a remark": {is(event.Complete, flow.CompleteText, "ok", "blocked"), Facts{List: listOf(t, "tasks: [a.md, 'b.md [done]']\n"), Board: over}, Ended, event.Complete,
			event.Warning, "k.yaml: the board is complete; 1 task was marked as done in spite of the reply: b.md (blocked)"},
		"incomplete": {is(event.Incomplete, "old words", "ok", "blocked"), Facts{List: list, Board: over}, Ended, event.Incomplete,
			event.Warning, "k.yaml needs you: the board is incomplete: 1 of 2 tasks is blocked: b.md"},
		"incomplete, and gone on with": {is(event.Incomplete, "1 is left", "ok"), Facts{List: list, Current: "b.md"}, Ended, event.Incomplete,
			event.Warning, "k.yaml only has to be run again; it had ended with: 1 is left"},
		"needs a person": {is(event.NeedsPerson, "stuck"), Facts{List: list, Board: flow.Board{Terminal: true, Ended: "error"}}, Ended, event.NeedsPerson,
			event.Critical, "k.yaml needs you: the board ended with status error, as it says itself"},
		"was frozen":       {is(event.Frozen, "two owners"), Facts{List: list}, Ended, event.Frozen, event.Warning, "k.yaml only has to be run again; it had ended with: two owners"},
		"no valid reply":   {stuck, Facts{List: list}, Ended, event.Exhausted, event.Critical, "k.yaml needs you: no JSON"},
		"provider":         {is(event.Later, "until 5 pm"), Facts{List: list}, Ended, event.Later, event.Warning, "k.yaml waits for its provider: until 5 pm"},
		"limit":            {is(event.LimitReached, "$5.00"), Facts{List: list}, Ended, event.LimitReached, event.Warning, "k.yaml stopped (limit reached): $5.00"},
		"signal":           {is(event.Interrupted, "SIGTERM"), Facts{List: list}, Ended, event.Interrupted, event.Warning, "k.yaml stopped (interrupted): SIGTERM"},
		"the disk is full": {is(event.Failed, "no space"), Facts{List: list}, Ended, event.Failed, event.Critical, "k.yaml stopped (failed): no space"},
	} {
		b := show(tt.state, tt.facts, twoSteps...)
		if b.State != tt.want || b.Outcome != tt.outcome || b.Weight != tt.weight || b.Headline() != tt.headline || b.Sign != SignOf(tt.weight) {
			t.Errorf("%s: %s, %s, weight %d, %s %s", name, b.State, b.Outcome, b.Weight, b.Sign, b.Headline())
		}
		if (b.Exit != nil) != (b.State == Ended) {
			t.Errorf("%s: %s with exit %v", name, b.State, b.Exit)
		}
	}
}

// TestLenient: an incomplete board is complete with a remark if the last run was lenient, but not one
// with a task that somebody blocked (DESIGN, "Lenient").
func TestLenient(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	facts := Facts{List: list, Board: flow.Board{Terminal: true, SHA: "s"}}
	for status, want := range map[string]struct {
		outcome event.Outcome
		who     Who
		exit    int
	}{
		"":        {event.Complete, Nobody, 0},
		"blocked": {event.Incomplete, Decide, 3},
	} {
		s := stateOn(list, event.Incomplete, "1 is left", "ok")
		if s.Lenient = true; status != "" {
			s.Statuses = append(s.Statuses, flow.TaskStatus{Task: "b.md", Status: status})
		}
		b := show(s, facts)
		if b.Outcome != want.outcome || b.Who != want.who || *b.Exit != want.exit || b.Weight != event.Warning || !b.Lenient || len(b.Choices) > 0 != (want.who == Decide) {
			t.Errorf("with b.md %q: %s, %s, exit %d, weight %d, choices %v", status, b.Outcome, b.Who, *b.Exit, b.Weight, b.Choices)
		}
	}
}

// TestWait: what a run at work waits for, and behind an end with exit code 75 what the next run has to
// wait for.
func TestWait(t *testing.T) {
	at := start.UTC()
	wait := &event.ProviderWait{Provider: "claude", Named: true, Since: at, Until: at.Add(3600e9)}
	step := &flow.Step{Number: 1, Task: "a.md", Consent: &flow.Consent{Decision: event.Restart}}
	const since, until = "2026-01-02T03:04:05Z", "2026-01-02T04:04:05Z"
	for name, tt := range map[string]struct {
		state flow.State
		owned bool
		want  *Wait
	}{
		"a provider":      {flow.State{Running: true, Waiting: wait}, true, &Wait{For: "provider", Name: "claude", Since: since, Until: until, Text: wait.Waits()}},
		"another board":   {flow.State{Running: true, BlockedBy: "waits for b.yaml"}, true, &Wait{For: "board", Text: "waits for b.yaml"}},
		"a person":        {flow.State{Running: true, Step: step}, true, &Wait{For: "person", Text: "waits for your consent"}},
		"at work":         {flow.State{Running: true}, true, nil},
		"a later run":     {flow.State{Outcome: event.Later, Until: until}, false, &Wait{For: "provider", Until: until, Text: "the provider's limit"}},
		"at no time":      {flow.State{Outcome: event.Later}, false, nil},
		"a killed waiter": {flow.State{Waiting: wait}, false, nil},
	} {
		b := show(tt.state, Facts{Owned: tt.owned})
		if got, want := fmt.Sprintf("%+v", b.Waits), fmt.Sprintf("%+v", tt.want); b.Waits == nil != (tt.want == nil) || b.Waits != nil && *b.Waits != *tt.want {
			t.Errorf("%s: it waits for %s, want %s", name, got, want)
		}
	}
}

// TestReopened: after the last run a person may decide, edit a board that was complete, or decide about a
// board that was never run. What the board says itself counts then, and who has to act follows.
func TestReopened(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	over, says := flow.Board{Terminal: true, SHA: "s"}, flow.Board{Terminal: true, Ended: flow.EndedIncomplete}
	done := []flow.TaskStatus{{Task: "a.md", Status: flow.StatusAccepted}, {Task: "b.md", Status: flow.StatusAccepted}}
	const decision = "a.md is to be done again, as you decided"
	run, ended := event.RunStarted{}, event.RunFinished{Outcome: event.NeedsPerson, Text: "stuck"}
	ack, full := event.Acknowledged{Text: decision}, event.RunInterrupted{Outcome: event.Failed, Reason: "no space"}
	for name, tt := range map[string]struct {
		history flow.History
		events  []event.Event
		facts   Facts
		state   State
		outcome event.Outcome
		by      event.By
		who     Who
		what    string
	}{
		"a complete board got a task": {flow.History{State: flow.State{Outcome: event.Complete, Text: flow.CompleteText}}, []event.Event{run}, Facts{List: list, Current: "b.md"},
			Ended, event.Complete, event.ByEdit, RunAgain, "only has to be run again: it was complete, and has tasks to do again"},
		"a person decided": {flow.History{State: flow.State{Outcome: event.Interrupted, Text: decision, Decided: true}}, []event.Event{run, ended, ack}, Facts{List: list, Current: "a.md"},
			Ended, event.NeedsPerson, event.ByDecision, RunAgain, "only has to be run again: " + decision},
		"a person decided about a killed run": {flow.History{State: flow.State{Outcome: event.Interrupted, Text: decision, Decided: true}}, []event.Event{run, ack}, Facts{List: list, Current: "a.md"},
			Ended, event.Interrupted, event.ByDecision, RunAgain, "only has to be run again: " + decision},
		"a person edited": {flow.History{State: flow.State{Outcome: event.NeedsPerson, Text: "stuck", Spent: true}}, []event.Event{run, ended}, Facts{List: list, Current: "a.md"},
			Ended, event.NeedsPerson, event.ByEdit, RunAgain, "only has to be run again; it had ended with: stuck"},
		"a person edited, after consent in the run": {flow.History{State: flow.State{Outcome: event.NeedsPerson, Text: "stuck", Spent: true}},
			[]event.Event{run, event.ConsentGiven{ID: "m", Choice: event.ConsentContinue}, ended}, Facts{List: list, Current: "a.md"},
			Ended, event.NeedsPerson, event.ByEdit, RunAgain, "only has to be run again; it had ended with: stuck"},
		"a run was stopped since": {flow.History{State: flow.State{Outcome: event.Interrupted, Text: "SIGTERM"}}, []event.Event{run, ack}, Facts{List: list, Current: "a.md"},
			Ended, event.Interrupted, event.BySignal, RunAgain, "stopped (interrupted): SIGTERM"},
		"a clone that waits":       {flow.History{}, nil, Facts{Never: true, List: list, Board: says}, Ended, event.Incomplete, event.ByUndone, Decide, "the board is incomplete: 2 of 2 tasks were never worked on: a.md, b.md"},
		"a clone that is complete": {flow.History{}, nil, Facts{Never: true, List: list, Board: over}, NeverRun, "", "", Nobody, "never run"},
		"a clone with tasks":       {flow.History{Seq: 1}, []event.Event{ack}, Facts{Never: true, List: list, Current: "a.md"}, NeverRun, "", "", Nobody, "never run"},
		"a clone, all accepted": {flow.History{Seq: 1, State: flow.State{Statuses: done}}, []event.Event{ack}, Facts{Never: true, List: list, Board: over},
			Ended, event.Complete, event.ByOK, Nobody, "complete: 2 of 2 tasks done"},
		"unreadable":  {flow.History{}, nil, Facts{Never: true, Fault: "no YAML"}, NeverRun, event.Invalid, event.ByFile, Mend, "no YAML"},
		"a full disk": {flow.History{State: flow.State{Outcome: event.Failed, Text: "no space"}}, []event.Event{run}, Facts{List: list, Current: "a.md"}, Ended, event.Failed, event.ByFile, Mend, "stopped (failed): no space"},
		"a full disk before the run began": {flow.History{Seq: 1, State: flow.State{Outcome: event.Failed, Text: "no space"}}, []event.Event{full}, Facts{Never: true, List: list, Current: "a.md"},
			Ended, event.Failed, event.ByFile, Mend, "stopped (failed): no space"},
		"another run has it": {flow.History{State: flow.State{Outcome: event.Owned, Text: "pid 7"}}, []event.Event{run}, Facts{List: list, Current: "a.md"}, Ended, event.Owned, event.ByOwner, RunAgain, "stopped (another run has it): pid 7"},
		"a run is at work":   {flow.History{State: flow.State{Running: true}}, []event.Event{run}, Facts{Owned: true, List: list}, Running, "", "", Nobody, "at work: 0 of 2 tasks done"},
		"a secret that no word settles": {flow.History{State: flow.State{Outcome: event.NeedsPerson, Text: "a key in f.txt"}}, []event.Event{run}, Facts{List: list, Current: "a.md"},
			Ended, event.NeedsPerson, event.BySecret, Decide, "a key in f.txt"},
	} {
		b := folded(tt.events...).Board("k.yaml", &tt.history, tt.facts)
		if b.State != tt.state || b.Outcome != tt.outcome || b.Reason.By != tt.by || b.Who != tt.who || b.What() != tt.what {
			t.Errorf("%s: %s, %q by %q, who %q: %s", name, b.State, b.Outcome, b.Reason.By, b.Who, b.What())
		}
		if hasEnd, never := !b.Ended.IsZero(), tt.facts.Never && tt.outcome != event.Failed; hasEnd == (never || tt.facts.Owned) {
			t.Errorf("%s: ended %s", name, b.Ended)
		}
	}
	f := Fold{decided: true}
	fold(&f, event.RunStarted{})
	if f.decided {
		t.Error("a decision outlives the run after it")
	}
}

// TestSetUnreadable: a person mends a journal that cannot be read, whatever it said before, and the report
// to the Lead asks for that.
func TestSetUnreadable(t *testing.T) {
	b := Board{Board: "k.yaml", State: Ended, Outcome: event.NeedsPerson, Who: Decide, Reason: Reason{Said: "stuck"}, Totals: Totals{Steps: 2},
		question: &Question{Why: "stuck", Choices: []Choice{{Word: event.Retry}}}, Choices: []Choice{{Word: event.Retry}}}
	b.SetUnreadable(errors.New("damaged at byte 7\nand more"))
	if b.Who != Mend || b.Weight != event.Critical || b.Sign != "✗" || b.Totals.Steps != 2 || b.Headline() != "k.yaml cannot be read: damaged at byte 7" || b.Request() != b.Headline() {
		t.Errorf("%q, weight %d: %s; %s", b.Who, b.Weight, b.Headline(), b.Request())
	}
	if *b.Exit != 2 || len(b.Choices) > 0 || b.Damage != "damaged at byte 7" || b.Reason.By != event.ByFile {
		t.Errorf("exit %d, choices %v, damage %q, by %s", *b.Exit, b.Choices, b.Damage, b.Reason.By)
	}
	spoiled := show(flow.State{}, Facts{Fault: "no YAML"})
	if spoiled.Request() != "k.yaml cannot be run: no YAML" {
		t.Errorf("a board that is no YAML: %s", spoiled.Request())
	}
	waits := show(flow.State{Frozen: &flow.Freeze{Text: "changed"}}, Facts{Fault: "no YAML"})
	if !strings.Contains(waits.Request(), "kanban-run ack k.yaml retry") {
		t.Errorf("one that a word puts back: %s", waits.Request())
	}
}

// TestNoNullLists: the JSON of a board has no null where programs expect a list.
func TestNoNullLists(t *testing.T) {
	list := listOf(t, "tasks: [a.md]\n")
	invalid := Board{Board: "k.yaml"}
	invalid.SetInvalid(errors.New("no such board"))
	supervised := stateOn(list, event.Complete, flow.CompleteText, "ok")
	supervised.Supervisor = &flow.Supervisor{}
	for name, b := range map[string]Board{
		"never run":       show(flow.State{}, Facts{Never: true, List: list, Current: "a.md"}),
		"without tasks":   show(flow.State{}, Facts{Never: true, List: listOf(t, "tasks: []\n")}),
		"unreadable":      show(flow.State{}, Facts{Fault: "no YAML"}),
		"not located":     invalid,
		"supervised":      show(supervised, Facts{List: list}, twoSteps...),
		"a step is open":  working().Board("k.yaml", &flow.History{State: flow.State{Running: true, Step: &flow.Step{Number: 1, Task: "a.md"}}}, Facts{Owned: true, List: list}),
		"set aside":       show(flow.State{Outcome: event.Incomplete, Spent: true, Aside: []flow.Aside{{Task: "a.md"}}}, Facts{List: list, Current: "a.md"}),
		"a missing tool":  show(stateOn(list, event.Complete, flow.CompleteText, "ok"), Facts{List: list}, event.ToolUnavailable{AttemptRef: work, Tool: "gh"}),
		"with checkpoint": show(stateOn(list, event.Complete, flow.CompleteText, "ok"), Facts{List: list}, event.CheckpointMissed{Step: 2, Task: "CHECKPOINT-001"}),
	} {
		text, err := json.Marshal(Document{Version: FormVersion, Boards: []Board{b}})
		if err != nil {
			t.Fatal(err)
		}
		var d any
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		// A nil *string is null on purpose: the Manager named no next task.
		if all := slices.DeleteFunc(nulls("", d), func(p string) bool { return strings.HasSuffix(p, ".next_task") }); len(all) > 0 {
			t.Errorf("%s: null at %q in %s", name, all, text)
		}
	}
}

// nulls returns the places of nulls in a JSON document.
func nulls(at string, v any) (all []string) {
	switch v := v.(type) {
	case nil:
		return []string{at}
	case map[string]any:
		for key, value := range v {
			all = append(all, nulls(at+"."+key, value)...)
		}
	case []any:
		for _, value := range v {
			all = append(all, nulls(at+"[]", value)...)
		}
	}
	return all
}
