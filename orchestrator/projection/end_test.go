package projection

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// endOf returns a state whose last run ended with an outcome, and in which what the outcome asks is not
// decided yet.
func endOf(o event.Outcome, text string) flow.State {
	s := flow.State{Workdir: "/w", Outcome: o, Text: text, Spent: true}
	switch o {
	case event.Incomplete:
		s.Aside = []flow.Aside{{Task: "a.md", Status: "blocked", Text: text}}
	case event.NeedsPerson, event.Exhausted:
		s.Step = &flow.Step{Number: 1, Task: "a.md", Role: "R", Call: event.TaskCall}
	case event.Frozen:
		s.Frozen = &flow.Freeze{Text: text}
	}
	return s
}

// TestWho: who acts and the exit code follow from how a board ended, and the code tells who acts (the
// table in DESIGN).
func TestWho(t *testing.T) {
	want := map[event.Outcome]struct {
		who   Who
		exit  int
		words string
	}{
		event.Complete:     {Nobody, 0, ""},
		event.Incomplete:   {Decide, 3, "you decide"},
		event.NeedsPerson:  {Decide, 3, "you decide"},
		event.Exhausted:    {Decide, 4, "you decide"},
		event.Frozen:       {Decide, 5, "you decide"},
		event.LimitReached: {RunAgain, 7, "run it again"},
		event.Later:        {RunAgain, 75, "run it again"},
		event.Interrupted:  {RunAgain, 130, "run it again"},
		event.Owned:        {RunAgain, 6, "run it again"},
		event.Invalid:      {Mend, 2, "you mend it"},
		event.Failed:       {Mend, 1, "you mend it"},
		event.Unsaved:      {Mend, 1, "you mend it"},
	}
	facts := Facts{List: listOf(t, "tasks: [a.md, b.md]\n"), Current: "a.md"}
	byCode := map[int]Who{}
	for _, o := range event.Outcomes() {
		text, w := "why", want[o]
		if o == event.Complete {
			text, facts.Current = flow.CompleteText, ""
		}
		b := show(endOf(o, text), facts, event.RunStarted{}, event.RunFinished{Outcome: o, Text: text})
		facts.Current = "a.md"
		if b.State != Ended || b.Outcome != o || b.Who != w.who || *b.Exit != w.exit || b.Who.Words() != w.words {
			t.Errorf("%s: %s, %s, exit %d, %q, want %s, %d, %q", o, b.Outcome, b.Who, *b.Exit, b.Who.Words(), w.who, w.exit, w.words)
		}
		if o.Who() != w.who || o.Exit() != w.exit || o.AsksPerson() != (w.who == Decide) || b.Who.AsksPerson() != (w.who == Decide || w.who == Mend) {
			t.Errorf("%s itself says %s and %d", o, o.Who(), o.Exit())
		}
		if who, ok := byCode[w.exit]; ok && who != b.Who {
			t.Errorf("the exit code %d tells of %s and of %s", w.exit, who, b.Who)
		}
		byCode[w.exit] = b.Who
		if b.IsOK() != (o == event.Complete) || b.IsSettled() || b.IsAtWork() {
			t.Errorf("%s: ok %t, settled %t, at work %t", o, b.IsOK(), b.IsSettled(), b.IsAtWork())
		}
		if waits := len(b.Choices) > 0; waits != (w.who == Decide) {
			t.Errorf("%s: %s with the choices %v", o, b.Who, b.Choices)
		}
	}
	if len(want) != len(event.Outcomes()) {
		t.Errorf("%d outcomes are tested, of %d", len(want), len(event.Outcomes()))
	}
}

// TestExit: the exit code of a run that a signal ended is that of the signal, and of a run that was
// killed 137.
func TestExit(t *testing.T) {
	facts := Facts{List: listOf(t, "tasks: [a.md]\n"), Current: "a.md"}
	const decision = "the work on a.md counts as done, as you decided"
	interrupted := func(o event.Outcome, by event.By, code int) []event.Event {
		return []event.Event{event.RunStarted{}, event.RunInterrupted{Outcome: o, Reason: "why", By: by, Exit: code, Hint: "do this"}}
	}
	for name, tt := range map[string]struct {
		outcome event.Outcome
		text    string
		events  []event.Event
		exit    int
		who     Who
		by      event.By
	}{
		"SIGINT":                   {event.Interrupted, "why", interrupted(event.Interrupted, event.BySignal, 130), 130, RunAgain, event.BySignal},
		"SIGTERM":                  {event.Interrupted, "why", interrupted(event.Interrupted, event.BySignal, 143), 143, RunAgain, event.BySignal},
		"SIGQUIT":                  {event.Interrupted, "why", interrupted(event.Interrupted, "", 131), 131, RunAgain, event.BySignal},
		"of an earlier version":    {event.Interrupted, "why", interrupted(event.Interrupted, "", 0), 130, RunAgain, event.BySignal},
		"killed":                   {"", "", []event.Event{event.RunStarted{}}, 137, RunAgain, event.ByKilled},
		"killed after a signal":    {"", "", append(interrupted(event.Interrupted, event.BySignal, 143), event.RunStarted{}), 137, RunAgain, event.ByKilled},
		"git was killed":           {event.Failed, "why", interrupted(event.Failed, event.ByKilled, 0), 1, RunAgain, event.ByKilled},
		"a full disk":              {event.Failed, "why", interrupted(event.Failed, event.ByFile, 0), 1, Mend, event.ByFile},
		"a login":                  {event.Invalid, "why", interrupted(event.Invalid, event.ByLogin, 0), 2, Mend, event.ByLogin},
		"a limit, then a signal":   {event.LimitReached, "why", append(interrupted(event.Interrupted, event.BySignal, 143), event.RunStarted{}, event.RunFinished{Outcome: event.LimitReached, Text: "why"}), 7, RunAgain, event.ByLimit},
		"killed, and then decided": {event.Interrupted, decision, []event.Event{event.RunStarted{}, event.Acknowledged{Text: decision}}, 137, RunAgain, event.ByDecision},
		"stopped, and then decided": {event.Interrupted, decision, append(interrupted(event.Interrupted, event.BySignal, 143), event.Acknowledged{Text: decision}),
			143, RunAgain, event.ByDecision},
	} {
		state := endOf(tt.outcome, tt.text)
		state.Decided = strings.HasSuffix(name, "decided")
		b := show(state, facts, tt.events...)
		if b.Exit == nil || *b.Exit != tt.exit || b.Who != tt.who || b.Reason.By != tt.by {
			t.Errorf("%s: exit %v, %s by %q, want %d, %s by %q", name, *b.Exit, b.Who, b.Reason.By, tt.exit, tt.who, tt.by)
		}
	}
	b := show(endOf(event.Invalid, "why"), facts, interrupted(event.Invalid, event.ByLogin, 0)...)
	if b.Advice() != "do this" {
		t.Errorf("the advice is %q, want what mends it", b.Advice())
	}
}

// TestReasonBy: what ended a run is what its end tells. Of records that do not tell it is inferred.
func TestReasonBy(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	open, over := Facts{List: list, Current: "a.md"}, Facts{List: list, Board: flow.Board{Terminal: true, SHA: "s"}}
	is := func(o event.Outcome, change func(*flow.State)) flow.State {
		s := endOf(o, "why")
		s.Last = flow.ManagerReply{Status: "ok", BoardSHA: "s"}
		if change != nil {
			change(&s)
		}
		return s
	}
	closed := func(s *flow.State) { s.Step = nil }
	failed := func(exit string) []event.Event {
		return []event.Event{event.RunStarted{}, event.AttemptStarted{AttemptRef: work}, event.ReplyRejected{AttemptRef: work, Exit: exit}}
	}
	for name, tt := range map[string]struct {
		state  flow.State
		facts  Facts
		events []event.Event
		want   event.By
	}{
		"told by the end":     {is(event.NeedsPerson, nil), open, []event.Event{event.RunStarted{}, event.RunFinished{Outcome: event.NeedsPerson, Text: "why", By: event.ByLoop}}, event.ByLoop},
		"told of another end": {is(event.NeedsPerson, func(s *flow.State) { s.Decided = true }), open, []event.Event{event.RunFinished{Outcome: event.NeedsPerson, Text: "why else", By: event.ByLoop}}, event.ByReview},
		"complete":            {stateOn(list, event.Complete, flow.CompleteText, "ok", "ok"), over, nil, event.ByOK},
		"with a mark": {stateOn(list, event.Complete, "", "ok", "blocked"),
			Facts{List: listOf(t, "tasks: [a.md, 'b.md [done]']\n"), Board: over.Board}, nil, event.ByMark},
		"tasks undone": {stateOn(list, event.Incomplete, "", "ok"), over, nil, event.ByUndone},
		"set aside":    {is(event.Incomplete, nil), open, nil, event.BySetAside},
		"a status": {is(event.NeedsPerson, func(s *flow.State) {
			s.Step, s.Last.Status = nil, "blocked"
		}), over, nil, event.ByStatus},
		"a review":     {is(event.NeedsPerson, nil), open, nil, event.ByReview},
		"a hung agent": {is(event.NeedsPerson, func(s *flow.State) { s.Step.Hung = &flow.Hung{} }), open, nil, event.ByWatch},
		"a loop":       {is(event.NeedsPerson, func(s *flow.State) { s.Step, s.Quarantine = nil, []flow.Quarantine{{Task: "a.md"}} }), open, nil, event.ByLoop},
		"a checkpoint": {is(event.NeedsPerson, func(s *flow.State) {
			s.Step, s.Supervisor = nil, &flow.Supervisor{Block: &flow.Block{Text: "no tests"}}
		}), open, nil, event.ByCheckpoint},
		"a secret":      {is(event.NeedsPerson, func(s *flow.State) { s.Spent = false }), open, nil, event.BySecret},
		"a change":      {is(event.NeedsPerson, func(s *flow.State) { s.AsksOf = true }), Facts{List: list, Board: open.Board, Current: "a.md", Asked: []string{"x"}}, nil, event.ByChanged},
		"another way":   {is(event.NeedsPerson, func(s *flow.State) { s.Frozen = &flow.Freeze{Asks: true, Text: "x", Git: &event.GitWay{}} }), open, nil, event.ByChanged},
		"who ended it?": {is("", nil), Facts{List: list, Unknown: "who?"}, nil, event.ByUnknownEnd},
		"asks":          {is(event.NeedsPerson, func(s *flow.State) { s.Frozen = &flow.Freeze{Asks: true, Text: "who?"} }), open, nil, event.ByUnknownEnd},
		"no reply":      {is(event.Exhausted, nil), open, failed("exit status 0"), event.ByNoReply},
		"a crash":       {is(event.Exhausted, nil), open, failed("exit status 1"), event.ByCrash},
		"a kill":        {is(event.Exhausted, nil), open, failed("killed by signal: killed"), event.ByCrash},
		"no attempt":    {is(event.Exhausted, nil), open, nil, event.ByNoReply},
		"frozen":        {is(event.Frozen, nil), open, nil, event.ByDiverged},
		"a limit":       {is(event.LimitReached, nil), open, nil, event.ByLimit},
		"a task's limit": {is(event.LimitReached, func(s *flow.State) {
			s.Aside = []flow.Aside{{Task: "a.md", Status: flow.StatusLimit}}
		}), open, nil, event.ByTaskLimit},
		"the provider":                   {is(event.Later, nil), open, nil, event.ByProvider},
		"a signal":                       {is(event.Interrupted, nil), open, nil, event.BySignal},
		"killed":                         {is("", closed), open, nil, event.ByKilled},
		"another run":                    {is(event.Owned, nil), open, nil, event.ByOwner},
		"a setting":                      {is(event.Invalid, nil), open, nil, event.BySetting},
		"a file":                         {is(event.Failed, nil), open, nil, event.ByFile},
		"no YAML":                        {is(event.LimitReached, nil), Facts{Fault: "no YAML"}, nil, event.ByFile},
		"not saved":                      {is(event.Unsaved, nil), open, nil, event.ByUnsaved},
		"a missing role":                 {flow.State{}, Facts{Never: true, Refused: "no role X"}, nil, event.BySetting},
		"an edit":                        {stateOn(list, event.Complete, flow.CompleteText, "ok", "ok"), Facts{List: list, Current: "a.md"}, nil, event.ByEdit},
		"a decision":                     {is(event.NeedsPerson, closed), open, []event.Event{event.RunStarted{}, event.RunFinished{}, event.Acknowledged{Text: "on it goes"}}, event.ByDecision},
		"an edit of a board that waited": {is(event.NeedsPerson, closed), open, []event.Event{event.RunStarted{}, event.RunFinished{}}, event.ByEdit},
		"at work":                        {flow.State{Running: true}, Facts{Owned: true}, nil, ""},
	} {
		if b := show(tt.state, tt.facts, tt.events...); b.Reason.By != tt.want {
			t.Errorf("%s: by %q (%s, %s: %s), want %q", name, b.Reason.By, b.Outcome, b.Who, b.Reason.Said, tt.want)
		}
	}
	journal := flow.History{State: is("", closed), Breach: &flow.Breach{Kind: "STATE_DIVERGENCE", Text: "twice"}}
	if b := (&Fold{}).Board("k.yaml", &journal, open); b.Reason.By != event.ByJournal || b.Outcome != event.Frozen {
		t.Errorf("records that contradict: by %q, %s", b.Reason.By, b.Outcome)
	}
}

// TestReasonWhere: the reason is about a task, or about no file that can be named.
func TestReasonWhere(t *testing.T) {
	list := listOf(t, "tasks: [a.md, b.md]\n")
	open, over := Facts{List: list, Current: "a.md"}, Facts{List: list, Board: flow.Board{Terminal: true, SHA: "s"}}
	aside := func(o event.Outcome, status string, tasks ...string) flow.State {
		s := flow.State{Workdir: "/w", Outcome: o, Text: "why", Spent: true}
		for _, task := range tasks {
			s.Aside = append(s.Aside, flow.Aside{Task: task, Status: status})
		}
		return s
	}
	begun := []event.Event{event.RunStarted{}, event.StepStarted{Step: 1, Task: "a.md", Role: "R"}}
	done := append(begun[:2:2], event.StepFinished{Step: 1, Task: "a.md", Status: "blocked", Manager: "blocked"})
	loop := flow.State{Workdir: "/w", Outcome: event.NeedsPerson, Text: "named again", Spent: true, Quarantine: []flow.Quarantine{{Task: "b.md"}}}
	twice := loop
	twice.Quarantine = append(loop.Quarantine[:1:1], flow.Quarantine{Task: "a.md"})
	block := flow.State{Workdir: "/w", Outcome: event.NeedsPerson, Text: "no tests", Spent: true, Supervisor: &flow.Supervisor{Block: &flow.Block{Text: "no tests"}}}
	blocked := stateOn(list, event.NeedsPerson, "", "blocked")
	blocked.Last.Status = "blocked"
	checkpoint := []event.Event{event.StepStarted{Step: 2, Task: "CHECKPOINT-001", Role: "Supervisor", Call: event.CheckpointCall, Checkpoint: &event.Checkpoint{ID: "CHECKPOINT-001"}}}
	for name, tt := range map[string]struct {
		state  flow.State
		facts  Facts
		events []event.Event
		want   string
	}{
		"the open step":             {endOf(event.Exhausted, "no JSON"), open, begun, "a.md"},
		"killed in it":              {endOf("", ""), open, begun, "a.md"},
		"the step that is not ok":   {blocked, over, done, "a.md"},
		"one task set aside":        {aside(event.Incomplete, "blocked", "b.md"), open, begun, "b.md"},
		"two tasks set aside":       {aside(event.Incomplete, "blocked", "a.md", "b.md"), open, begun, ""},
		"a task's limit":            {aside(event.LimitReached, flow.StatusLimit, "b.md"), open, done, "b.md"},
		"no valid reply, set aside": {aside(event.Exhausted, flow.StatusNoReply, "b.md"), open, done, "b.md"},
		"a loop":                    {loop, open, done, "b.md"},
		"two loops":                 {twice, open, begun, ""},
		"a checkpoint is no file":   {block, open, checkpoint, ""},
		"complete":                  {stateOn(list, event.Complete, flow.CompleteText, "ok", "ok"), over, done, ""},
		"at work":                   {flow.State{Running: true, Workdir: "/w"}, Facts{Owned: true, List: list}, begun, ""},
		"never run":                 {flow.State{}, Facts{Never: true, List: list, Current: "a.md"}, nil, ""},
		"the board is no YAML":      {endOf(event.LimitReached, "$5"), Facts{Fault: "no YAML"}, begun, ""},
	} {
		if b := show(tt.state, tt.facts, tt.events...); b.Reason.Where != tt.want {
			t.Errorf("%s: where %q (%s by %s), want %q", name, b.Reason.Where, b.Outcome, b.Reason.By, tt.want)
		}
	}
}

// TestEndAs: a run that failed, or that another run kept out, is shown as it ended, whatever the
// journal says.
func TestEndAs(t *testing.T) {
	b := show(endOf(event.LimitReached, "$5"), Facts{List: listOf(t, "tasks: [a.md]\n"), Current: "a.md"})
	b.question = &Question{About: event.AboutStep, Why: "stuck", Choices: []Choice{{Word: event.Retry, Does: "has it tried again"}}}
	b.offer()
	b.EndAs(event.RunInterrupted{Outcome: event.NeedsPerson, Reason: "stuck"})
	if b.State != Ended || b.Who != Decide || *b.Exit != 3 || b.Weight != event.Critical || b.Request() != "kanban-run ack k.yaml retry: stuck" || len(b.Choices) != 1 {
		t.Errorf("%s, %s, exit %d, weight %d: %s", b.State, b.Who, *b.Exit, b.Weight, b.Request())
	}
	b.EndAs(event.RunInterrupted{Outcome: event.Owned, Reason: "pid 7"})
	if b.Who != RunAgain || *b.Exit != 6 || b.Headline() != "k.yaml stopped (another run has it): pid 7" || len(b.Choices) > 0 || b.Request() != "" {
		t.Errorf("%s, exit %d: %s", b.Who, *b.Exit, b.Headline())
	}
}

// TestUnsaved: in a CI job the work is thrown away if the remote lacks checkpoints, and so 0, 7 and 75 become 1 in all
// views; where a person has to act anyhow, that stays.
func TestUnsaved(t *testing.T) {
	over := Facts{List: listOf(t, "tasks: [a.md]\n"), Board: flow.Board{Terminal: true}}
	open := Facts{List: listOf(t, "tasks: [a.md]\n"), Current: "a.md"}
	ok := stateOn(over.List, event.Complete, flow.CompleteText, "ok")
	for name, tt := range map[string]struct {
		state  flow.State
		facts  Facts
		unsafe bool // of a CI job
		want   event.Outcome
	}{
		"complete, in a job":       {ok, over, true, event.Unsaved},
		"complete, elsewhere":      {ok, over, false, event.Complete},
		"seen in another clone":    {ok, over, true, event.Complete},
		"a limit, in a job":        {endOf(event.LimitReached, "$5"), open, true, event.Unsaved},
		"a busy provider":          {endOf(event.Later, "busy"), open, true, event.Unsaved},
		"no valid reply, in a job": {endOf(event.Exhausted, "no JSON"), open, true, event.Exhausted},
		"stopped by a signal":      {endOf(event.Interrupted, "SIGINT"), open, true, event.Interrupted},
	} {
		tt.state.Unpushed, tt.state.UnpushedTo = "GH013", "board/k.yaml"
		tt.facts.Away = strings.HasSuffix(name, "seen in another clone")
		b := show(tt.state, tt.facts, event.RunStarted{Discarded: tt.unsafe})
		if b.Outcome != tt.want || *b.Exit != tt.want.Exit() || b.Branch != "board/k.yaml" {
			t.Errorf("%s: %s with exit code %d: %s", name, b.Outcome, *b.Exit, b.Reason.Said)
		}
		if unsaved := b.Outcome == event.Unsaved; unsaved && (b.Who != Mend || !strings.Contains(b.Advice(), "let the job push the branch")) {
			t.Errorf("%s: %s acts: %s", name, b.Who, b.Advice())
		}
	}
}

// TestRefusedAtTheEnd: a run that a person has to look at before it may say how the board ends does not end as the board
// would end without that look.
func TestRefusedAtTheEnd(t *testing.T) {
	over := Facts{List: listOf(t, "tasks: [a.md, b.md]\n"), Board: flow.Board{Terminal: true, SHA: "s"}, Asked: []string{"strict changed"}}
	s := stateOn(over.List, event.NeedsPerson, "strict changed", "ok")
	s.Spent, s.AsksOf, s.Lenient = false, true, true
	ended := event.RunInterrupted{Outcome: event.NeedsPerson, Reason: "strict changed", By: event.ByChanged, Changed: true}
	b := show(s, over, event.RunStarted{}, ended)
	if b.Outcome != event.NeedsPerson || *b.Exit != 3 || b.Who != Decide || b.Reason.By != event.ByChanged || b.Reason.Said != "strict changed" {
		t.Errorf("%s by %s, exit %d, %s: %s", b.Outcome, b.Reason.By, *b.Exit, b.Who, b.Reason.Said)
	}
	over.Asked = nil // accepted, or put back: the next run says how the board ends
	if b := show(s, over, event.RunStarted{}, ended); b.Who != RunAgain || b.Outcome != event.NeedsPerson {
		t.Errorf("behind the decision %s acts: %s", b.Who, b.Outcome)
	}
	s.AsksOf = false // a secret that a checkpoint would hold
	if b := show(s, over, event.RunStarted{}, event.RunInterrupted{Outcome: event.NeedsPerson, By: event.BySecret, Hint: "take it out"}); *b.Exit != 3 || b.Card().Hint != "take it out" {
		t.Errorf("a secret: exit %d, hint %q", *b.Exit, b.Card().Hint)
	}
}

// TestSetInvalid: the hint of the error becomes the advice.
func TestSetInvalid(t *testing.T) {
	b := show(endOf(event.NeedsPerson, "stuck"), Facts{List: listOf(t, "tasks: [a.md]\n"), Current: "a.md"})
	b.SetInvalid(fmt.Errorf("read it: %w", errors.New("no such file")))
	if b.Who != Mend || b.Outcome != event.Invalid || *b.Exit != 2 || b.Headline() != "k.yaml cannot be run: read it: no such file" || b.Request() != b.Headline() || len(b.Choices) > 0 {
		t.Errorf("%s, %s, exit %d: %s", b.Who, b.Outcome, *b.Exit, b.Headline())
	}
}

// TestEndWords: how a board stands in a word or two.
func TestEndWords(t *testing.T) {
	for want, b := range map[string]Board{
		"never run":               {State: NeverRun},
		"cannot be run":           {State: NeverRun, Who: Mend},
		"at work":                 {State: Pending},
		"at work, step 3":         {State: Running, Open: &OpenStep{Step: 3}},
		"killed":                  {State: Ended, Outcome: event.Interrupted, Reason: Reason{By: event.ByKilled}},
		"complete, with a remark": {State: Ended, Outcome: event.Complete, Weight: event.Warning},
		"to be run again":         {State: Ended, Outcome: event.Complete, reopened: true},
		"no valid reply":          {State: Ended, Outcome: event.Exhausted},
		"another run has it":      {State: Ended, Outcome: event.Owned},
	} {
		if got := b.EndWords(); got != want {
			t.Errorf("%s, %s: %q, want %q", b.State, b.Outcome, got, want)
		}
	}
}
