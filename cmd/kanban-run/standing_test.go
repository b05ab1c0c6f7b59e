package main

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/page"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/workspace"
)

// night is a history of a board that is made up at random: runs whose agents reply well and badly, a
// Manager that goes on, ends early, drops, adds and marks tasks, and a person who edits the board
// between two runs.
type night struct {
	t       *testing.T
	r       *rand.Rand
	now     time.Time
	history flow.History
	fold    projection.Fold
	tasks   []string // of the list, with marks
	current string   // "": null
	ended   string
	phase   string
	never   bool
}

func (n *night) record(events ...event.Event) {
	n.t.Helper()
	for _, e := range events {
		n.now = n.now.Add(time.Second)
		if err := n.history.State.Apply(e); err != nil {
			n.t.Fatalf("%T: %v", e, err)
		}
		n.fold.Add(event.Entry{Time: n.now, Event: e})
	}
}

func (n *night) board() *board.Board {
	n.t.Helper()
	text := "current: " + map[bool]string{true: "null", false: n.current}[n.current == ""] + "\n"
	if n.phase != "" {
		text = "phase: " + n.phase + "\n" + text
	}
	if n.ended != "" {
		text += "ended: " + n.ended + "\n"
	}
	text += "tasks:\n"
	for _, task := range n.tasks {
		text += "  - " + task + "\n"
	}
	if len(n.tasks) == 0 {
		text = strings.TrimSuffix(text, "tasks:\n") + "tasks: []\n"
	}
	b, err := board.Parse("k.yaml", []byte(text))
	if err != nil {
		n.t.Fatalf("%s\n%v", text, err)
	}
	return b
}

func noHeader(string) (*board.Task, error) { return nil, os.ErrNotExist }

func (n *night) view() flow.Board {
	role := func(string) (string, error) { return "Implementor", nil }
	read := func(task string) (*board.Task, error) {
		return &board.Task{Ref: board.Ref{Path: task}}, nil
	}
	v, err := workspace.View(n.board(), &n.history.State, read, role)
	if err != nil {
		n.t.Fatal(err)
	}
	if v.Terminal { // the headers of the tasks say nothing
		v.Rest = n.history.State.Rest(workspace.ListOf(n.board(), noHeader))
	}
	return v
}

func (n *night) chance(of int) bool { return n.r.IntN(of) == 0 }

// run plays a run until it ends, or is killed.
func (n *night) run() {
	begun := event.RunStarted{Workdir: "/p", Board: "k.yaml", Limits: event.Limits{MaxRetries: 1, MaxSteps: 3, BusyMillis: 60_000},
		Told: true, KeepGoing: n.chance(3)}
	if n.never {
		n.never, begun.DoneBefore = false, workspace.DoneBefore(n.board(), true)
	}
	n.record(begun)
	n.reopen()
	for range 40 {
		switch e := flow.Next(&n.history.State, n.view()).(type) {
		case flow.Finish:
			n.record(event.RunFinished{Board: "k.yaml", Outcome: e.Outcome, Text: e.Text, By: e.By})
			return
		case flow.Spawn:
			if n.chance(40) {
				if n.history.State.Step != nil && n.chance(2) {
					n.record(event.RunInterrupted{Outcome: event.Interrupted, Reason: "stopped by signal"})
				}
				return // it was killed
			}
			n.attempt(e)
		case flow.SetAside:
			n.record(event.TaskSetAside{Step: e.Step, Task: e.Task, Role: e.Role, Status: e.Status, Reason: e.Reason})
		case flow.Wait:
			if n.record(e.ProviderWait); n.chance(6) {
				return // it was killed
			}
			n.record(event.ProviderBack{Step: e.Step, Task: e.Task, Millis: 1000})
		case flow.GiveUpWaiting:
			n.record(event.RunInterrupted{Outcome: event.Later, Reason: e.Text})
			return
		case flow.WriteBoard:
			n.finish()
		case flow.SuspectLoop:
			n.record(event.LoopSuspected{Step: e.Step, Task: e.Task, Role: e.Role, Suspicion: e.Suspicion, Told: true, BoardSHA: n.board().SHA})
		default:
			n.t.Fatalf("%T", e)
		}
	}
}

func (n *night) attempt(e flow.Spawn) {
	s := &n.history.State
	if s.Step == nil {
		n.record(event.StepStarted{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: n.board().SHA})
	}
	begun := event.AttemptStarted{AttemptRef: e.AttemptRef}
	if s.Step.Input == nil {
		begun.Input = json.RawMessage("{}")
	}
	if e.Call == event.ManagerCall {
		begun.Before = &event.Baseline{BoardSHA: n.board().SHA, Current: n.current}
	}
	n.record(begun)
	if n.chance(4) {
		n.record(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "no JSON", Stderr: "Traceback\nKeyError", End: event.End{Millis: 5, Left: n.board().SHA}})
		return
	}
	if n.chance(12) {
		n.record(event.AttemptStopped{AttemptRef: e.AttemptRef, Reason: "claude: 529", Refusal: &event.Refusal{Provider: "claude", At: n.now},
			End: event.End{Class: event.ClassBusy, Left: n.board().SHA}})
		return
	}
	reply := event.ReplyAccepted{AttemptRef: e.AttemptRef, Status: "ok", Message: "did it", End: event.End{Millis: 10, Left: n.board().SHA}}
	if n.chance(4) {
		reply.Status, reply.Message = []string{"blocked", "error", "escalate"}[n.r.IntN(3)], "no key"
	}
	if e.Call == event.ManagerCall {
		if next := n.r.IntN(len(n.tasks) + 1); next < len(n.tasks) && !n.chance(3) {
			path, _, _ := strings.Cut(strings.Trim(n.tasks[next], "'"), " ")
			reply.NextTask = &path
		}
	}
	n.record(reply)
}

// finish writes the Manager's decision onto the board, as a run does.
func (n *night) finish() {
	s := &n.history.State
	reply := s.Step.Reply
	before := n.board().TaskPaths()
	switch at := n.r.IntN(len(n.tasks) + 1); {
	case at == len(n.tasks):
	case n.chance(3):
		n.tasks = slices.Delete(slices.Clone(n.tasks), at, at+1)
	case n.chance(4):
		n.tasks = append(slices.Clone(n.tasks), fmt.Sprintf("new%d.md", s.Step.Number))
	case n.chance(3):
		path, _, _ := strings.Cut(strings.Trim(n.tasks[at], "'"), " ")
		n.tasks = slices.Clone(n.tasks)
		n.tasks[at] = "'" + path + " [done]'"
	}
	n.current, n.ended = "", ""
	if reply.NextTask != nil {
		n.current = *reply.NextTask
	}
	no := func(string) bool { return false }
	change := s.ChangeOf(before, n.board().TaskPaths(), no, no)
	switch {
	case n.current != "":
	case reply.Status != "ok":
		n.ended = reply.Status
	case s.LeavesOpen(workspace.ListOf(n.board(), noHeader), change):
		n.ended = flow.EndedIncomplete
	}
	n.record(event.StepFinished{Step: s.Step.Number, Task: s.Step.Task, Role: s.Step.Role, Status: s.Step.TaskStatus, Manager: reply.Status,
		Message: reply.Message, NextTask: reply.NextTask, BoardSHA: n.board().SHA, Dropped: change.Dropped, Renamed: change.Renamed})
}

// edit is a person's turn between two runs.
func (n *night) edit() {
	switch n.r.IntN(6) {
	case 0:
		n.current, n.ended = "", ""
	case 1:
		n.phase, n.ended = "complete", ""
	case 2:
		for i, task := range n.tasks {
			path, _, _ := strings.Cut(strings.Trim(task, "'"), " ")
			n.tasks[i] = "'" + path + " [done]'"
		}
	case 3:
		if len(n.tasks) > 0 && n.phase == "" {
			n.current, _, _ = strings.Cut(strings.Trim(n.tasks[0], "'"), " ")
			n.ended = ""
		}
	}
}

// reopen is what a run does about an earlier one: it closes an attempt that died with it, and looks at what a
// person changed.
func (n *night) reopen() {
	record := func(e event.Event) error { n.record(e); return nil }
	if _, err := flow.CloseAttempt(&n.history.State, record); err != nil {
		n.t.Fatal(err)
	}
	bare := workspace.Bare(n.board())
	if err := flow.Release(&n.history.State, bare, func(string) string { return "" }, record); err != nil {
		n.t.Fatal(err)
	}
	view := func() (flow.Board, error) { return n.view(), nil }
	if err := flow.Reopen(&n.history.State, bare, view, record); err != nil {
		n.t.Fatal(err)
	}
}

func newNight(t *testing.T, seed uint64) *night {
	n := &night{t: t, r: rand.New(rand.NewPCG(seed, 43)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), never: true}
	for i := range 1 + n.r.IntN(4) {
		n.tasks = append(n.tasks, fmt.Sprintf("t%d.md", i))
	}
	n.current = n.tasks[n.r.IntN(len(n.tasks))]
	for range n.r.IntN(4) {
		n.run()
		if n.chance(3) {
			n.edit()
		}
	}
	return n
}

// stand returns how the board stands.
func (n *night) stand() projection.Board {
	b := n.board()
	facts := projection.Facts{Never: n.never, List: workspace.ListOf(b, noHeader), Board: workspace.Bare(b), Current: n.current}
	facts.Board.Over = b.PhaseEnds()
	if b.Terminal() {
		facts.Current = ""
	}
	return n.fold.Board("k.yaml", &n.history, facts)
}

// TestViewsAgree holds what each view prints to the fields of the projection, over a thousand histories.
func TestViewsAgree(t *testing.T) {
	ends, histories := map[string]int{}, 1000
	if raceEnabled {
		histories = 300 // nothing in it is concurrent
	}
	first := uint64(sampleSeed()) % 3 * 1000 // a third of those that make exhaustive plays
	if exhaustive() {
		first, histories = 0, 3000
	}
	t.Logf("KANBAN_TEST_SEED=%d", sampleSeed())
	for seed := first; seed < first+uint64(histories); seed++ {
		n := newNight(t, seed)
		b := n.stand()
		ends[b.EndWords()]++
		if t.Failed() {
			return
		}
		for _, fault := range n.disagreements(&b) {
			t.Errorf("seed %d (%s: %s): %s", seed, b.Outcome, b.Reason.Said, fault)
		}
	}
	t.Log(ends)
	for _, o := range []string{"never run", "complete", "incomplete", "needs a person", "no valid reply", "interrupted", "limit reached"} {
		if ends[o] < histories/150 {
			t.Errorf("only %d histories are %s", ends[o], o)
		}
	}
}

func (n *night) disagreements(b *projection.Board) (faults []string) {
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	same := func(s string) string { return s }
	offers := func(view, before string) bool { // also what a run does anyhow is offered
		return strings.Contains(view, before+"kanban-run ack k.yaml ") || len(b.Choices) == 1 && strings.Contains(view, before+b.Choices[0].Command)
	}
	all := []*projection.Board{b}
	screen := report.Screen{Out: console.New(&strings.Builder{}, console.NewSecrets(nil)), Now: n.now}
	n.foresee(b, wrong)

	// Who has to act.
	if lead := report.SupervisorReport(all); strings.Contains(lead, "- yes -> kanban-run ack k.yaml ") != (b.Who == projection.Decide) {
		wrong("SUPERVISOR_REPORT: %s", lead)
	}
	table := screen.Table(all, 0)
	if strings.Contains(table[0], "you decide") != (b.Who == projection.Decide) || strings.Contains(table[1], "needs you") != b.Who.AsksPerson() {
		wrong("the table has %q", table)
	}

	// status
	status := strings.Join(screen.Status(b, false), "\n")
	if offers(status, "  ") != (len(b.Choices) > 0) || !strings.HasPrefix(status, b.Sign+" ") {
		wrong("status shows %s", status)
	}
	if b.Sign == "✓" && b.Left() > 0 {
		wrong("all is well, and %d tasks are left", b.Left())
	}

	// report
	if markdown := report.Markdown(all, same, 0); !strings.Contains(markdown, "| "+strings.TrimSpace(b.Sign)+" | k.yaml |") {
		wrong("Markdown has %s", markdown)
	}
	junit, err := report.JUnit(all, same)
	var suites struct {
		Suites []struct {
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
		} `xml:"testsuite"`
	}
	if err := errors.Join(err, xml.Unmarshal(junit, &suites)); err != nil {
		wrong("%v", err)
	} else if u := suites.Suites[0]; (u.Failures+u.Errors == 0) != (b.IsOK() || b.State == projection.NeverRun) || u.Failures+u.Errors > 1+len(b.Failed) || u.Skipped != len(b.Undone) {
		wrong("JUnit has %+v", u)
	}

	// the page
	rendered, err := page.Render(all, page.Options{Hide: same})
	shown := html.UnescapeString(string(rendered))
	if err != nil || offers(shown, "<code>") != (len(b.Choices) > 0) {
		wrong("the page has no decision, or one too many: %v", err)
	}
	if strings.Contains(shown, "<h1>Done: k.yaml is complete</h1>") != (b.Sign == "✓") {
		wrong("the page has another headline")
	}
	if counts := fmt.Sprintf("%d of %s ", b.Count(projection.Done, projection.DoneBefore), event.Count(b.Of(), "task")); !strings.Contains(shown, counts) {
		wrong("the page does not count %s", counts)
	}

	// An attempt is one start of one program.
	attempts := 0
	for _, task := range b.Tasks {
		attempts += task.Tries + task.Reviews
	}
	if attempts > b.Totals.Attempts {
		wrong("%d attempts of tasks, %d in all", attempts, b.Totals.Attempts)
	}
	return faults
}

// foresee compares the board with what the next run would say: of a board that is over it says the same, with
// the exit code of that.
func (n *night) foresee(b *projection.Board, wrong func(format string, args ...any)) {
	if b.Who != projection.Nobody && b.Exit != nil && !b.IsSettled() && b.Outcome.Exit() != *b.Exit && b.Outcome != event.Interrupted {
		wrong("%s with exit code %d", b.Outcome, *b.Exit)
	}
	v := n.view()
	if !v.Terminal || n.history.State.Step != nil || n.never || b.Outcome == event.Interrupted || b.Outcome == event.LimitReached {
		return
	}
	end, ok := flow.Next(&n.history.State, v).(flow.Finish)
	code := end.Outcome.Exit()
	if !ok || (code == exitComplete) != (b.Outcome == event.Complete) {
		wrong("the next run ends with %s: %s", end.Outcome, end.Text)
	}
	if (code == exitNeedsPerson) != (b.Who == projection.Decide) {
		wrong("exit code %d, and %s acts", code, b.Who)
	}
}

// TestDocumentedEnds holds the table of docs/running.md, how each kind of end shows in each view, to the
// standing. KANBAN_TEST_UPDATE=1 writes it anew.
func TestDocumentedEnds(t *testing.T) {
	const begin, end = "| end | exit code | sign | `status` | who acts | `inbox` | JUnit |\n", "\n<!-- end of the table of ends -->"
	path := "../../docs/running.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("docs/running.md has no table of ends")
	}
	want := head + begin + "|---|--:|---|---|---|---|---|\n" + strings.Join(endRows(), "\n") + end + tail
	if want == string(text) {
		return
	}
	if os.Getenv("KANBAN_TEST_UPDATE") == "" {
		t.Fatal("the table of ends in docs/running.md is not what the program shows: KANBAN_TEST_UPDATE=1 makes it anew")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func endRows() (rows []string) {
	b, err := board.Parse("k.yaml", []byte("current: null\ntasks: [1.md, 2.md]\n"))
	if err != nil {
		panic(err)
	}
	over := projection.Facts{List: workspace.ListOf(b, noHeader), Board: flow.Board{Terminal: true, SHA: "s"}}
	open := projection.Facts{List: over.List, Current: "2.md"}
	step := &flow.Step{Number: 2, Task: "2.md", Role: "Implementor", Call: event.TaskCall}
	asks := *step
	asks.Consent = &flow.Consent{Text: "no sign for 5m"}
	state := func(o event.Outcome, text string, step *flow.Step, statuses ...string) flow.State {
		s := flow.State{Outcome: o, Text: text, Spent: o != event.Interrupted && o != event.Later, Step: step,
			Last: flow.ManagerReply{Status: "ok", BoardSHA: "s"}}
		for i, status := range statuses {
			s.Statuses = append(s.Statuses, flow.TaskStatus{Task: b.TaskPaths()[i], Status: status})
		}
		return s
	}
	blocked := state(event.NeedsPerson, "", nil, "ok", "blocked")
	blocked.Last = flow.ManagerReply{Status: "blocked", Message: "no key", Task: "2.md", BoardSHA: "s"}
	frozen := state(event.Frozen, "", step, "ok")
	frozen.Frozen = &flow.Freeze{Text: "the board changed"}
	checkpoint := state(event.NeedsPerson, "CHECKPOINT-001 blocks", nil, "ok")
	checkpoint.Supervisor = &flow.Supervisor{Block: &flow.Block{Text: "CHECKPOINT-001 blocks"}}
	loop := state(event.NeedsPerson, "2.md is in quarantine", nil, "ok")
	loop.Quarantine = []flow.Quarantine{{Task: "2.md"}}
	owned := open
	owned.Owned = true
	working := state("", "", step, "ok")
	working.Running = true
	person := over
	person.Board = flow.Board{Terminal: true, SHA: "t", Over: true}
	aside := func(o event.Outcome, status string) flow.State {
		s := state(o, "2.md "+flow.TaskStatus{Status: status}.Is()+": no key (the board is incomplete)", nil, "ok", status)
		s.Aside = []flow.Aside{{Task: "2.md", Role: "Implementor", Status: status, Text: "no key"}}
		return s
	}
	skipped := state(event.Complete, "the board is complete; 1 of 2 tasks was skipped: 2.md", nil, "ok", flow.StatusSkipped)
	lenient := state(event.Complete, "the board is incomplete: 1 of 2 tasks was never worked on: 2.md", nil, "ok")
	lenient.Lenient = true
	for _, r := range []endRow{
		{"all tasks are done", state(event.Complete, flow.CompleteText, nil, "ok", "ok"), over},
		{"a person ended the board with tasks left", state(event.Complete, flow.CompleteText, nil, "ok"), person},
		{"the Manager ended it with tasks left", state(event.Incomplete, "", nil, "ok"), over},
		{"the Manager ended it with blocked", blocked, over},
		{"an agent is stuck, a review never content", state(event.NeedsPerson, "STUCK: no sign", step, "ok"), open},
		{"an agent gave no valid reply", state(event.Exhausted, "Implementor gave no valid reply", step, "ok"), open},
		{"-k: a task replied blocked", aside(event.Incomplete, "blocked"), open},
		{"-k: no valid reply for a task", aside(event.Exhausted, flow.StatusNoReply), open},
		{"-k: a task reached a limit of its own", aside(event.LimitReached, flow.StatusLimit), open},
		{"you skipped what was left", skipped, person},
		{"--lenient: the Manager ended it with tasks left", lenient, over},
		{"a checkpoint blocks", checkpoint, open},
		{"a task is in quarantine", loop, open},
		{"the board and the journal disagree", frozen, open},
		{"another run has it", state(event.Owned, "another run owns this board", nil, "ok"), open},
		{"a setting, a login, a file", state(event.Invalid, "claude: Please run /login", step, "ok"), open},
		{"a full disk", state(event.Failed, "no space left on device", step, "ok"), open},
		{"a limit of yours", state(event.LimitReached, "the limit of 5 steps is reached", nil, "ok"), open},
		{"the provider's limit", state(event.Later, "try again at 17:00", step, "ok"), open},
		{"a signal", state(event.Interrupted, "stopped by signal: interrupt", step, "ok"), open},
		{"killed", state("", "", step, "ok"), open},
		{"complete, and a person gave it a task since", state(event.Complete, flow.CompleteText, nil, "ok"), open},
		{"none: a run is at work", working, owned},
		{"none: never run", flow.State{}, projection.Facts{Never: true, List: over.List}},
		{"none: never run, and the next run would refuse", flow.State{}, projection.Facts{Never: true, List: over.List, Refused: "the role Lector is unknown"}},
	} {
		h := flow.History{State: r.state}
		b := r.fold(h.State).Board("k.yaml", &h, r.facts)
		code := ""
		if b.Exit != nil {
			code = fmt.Sprint(*b.Exit)
		}
		if r.end == "a signal" {
			code = "130, 143"
		}
		inbox := "nothing"
		if b.Who.AsksPerson() {
			inbox = cmp.Or(strings.ReplaceAll(b.Words(), " or ", ", "), "what to mend")
		}
		junit, _ := report.JUnit([]*projection.Board{&b}, func(s string) string { return s })
		verdict := "green"
		switch {
		case strings.Contains(string(junit), "<failure"):
			verdict = "failure"
		case strings.Contains(string(junit), "<error"):
			verdict = "error"
		}
		if n := strings.Count(string(junit), "<skipped>"); n > 0 {
			verdict += fmt.Sprintf(", %d skipped", n)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", r.end, code, strings.TrimSpace(b.Sign),
			strings.TrimLeft(strings.TrimPrefix(b.Headline(), "k.yaml"), ": "), cmp.Or(b.Who.Words(), "nobody"), inbox, verdict))
	}
	return rows
}

// endRow is a kind of end, with the state and the facts that it leaves.
type endRow struct {
	end   string
	state flow.State
	facts projection.Facts
}

// fold returns what the journal of such a board folds to, as far as its views need it.
func (r endRow) fold(s flow.State) *projection.Fold {
	f := &projection.Fold{}
	if s.Workdir != "" || s.Outcome != "" || s.Running || s.Step != nil {
		f.Add(event.Entry{Event: event.RunStarted{Workdir: "/p"}})
	}
	if s.Outcome != "" && s.Outcome != event.Interrupted {
		f.Add(event.Entry{Event: event.RunFinished{Outcome: s.Outcome, Text: s.Text}})
	}
	return f
}
