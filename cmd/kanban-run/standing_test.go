package main

import (
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
	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/page"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/standing"
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
	work    standing.Tasks
	digest  digest.Digest
	lead    report.SupervisorReport
	page    page.Board
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
		entry := event.Entry{Time: n.now, Event: e}
		n.work.Add(entry)
		n.digest.Add(entry)
		n.lead.Add(entry)
		n.page.Digest.Add(entry)
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
			n.record(event.RunFinished{Board: "k.yaml", Outcome: e.Outcome, Text: e.Text})
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
	n := &night{t: t, r: rand.New(rand.NewPCG(seed, 43)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), never: true,
		digest: digest.Digest{Board: "k.yaml", Steps: []digest.Step{}}, page: page.Board{Digest: digest.Digest{Board: "k.yaml"}}}
	n.lead.Begin("k.yaml")
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

// stand returns the standing of the board, and what the next run would say.
func (n *night) stand() standing.Standing {
	b := n.board()
	facts := standing.Facts{Never: n.never, List: workspace.ListOf(b, noHeader), Board: workspace.Bare(b), Current: n.current}
	facts.Board.Over = b.PhaseEnds()
	if b.Terminal() {
		facts.Current = ""
	}
	return standing.Of("k.yaml", &n.history, &n.work, facts)
}

// TestViewsAgree holds every view of a board to its standing: over thousands of histories all of them say
// the same of its tasks, of its end, and of whether a person has to act.
func TestViewsAgree(t *testing.T) {
	outcomes, histories := map[event.Outcome]int{}, 3000
	if raceEnabled {
		histories = 300 // nothing in it is concurrent
	}
	for seed := range uint64(histories) {
		n := newNight(t, seed)
		s := n.stand()
		outcomes[s.Outcome]++
		if t.Failed() {
			return
		}
		for _, fault := range n.disagreements(&s) {
			t.Errorf("seed %d (%s: %s): %s", seed, s.Outcome, s.Text, fault)
		}
	}
	t.Log(outcomes)
	for _, o := range []event.Outcome{standing.NeverRun, event.Complete, event.Incomplete, event.NeedsPerson, event.Exhausted, event.Interrupted, event.LimitReached} {
		if outcomes[o] < histories/150 {
			t.Errorf("only %d histories are %s", outcomes[o], o)
		}
	}
}

func (n *night) disagreements(s *standing.Standing) (faults []string) {
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	counts := map[string]int{}
	for _, task := range s.Tasks {
		counts[task.State]++
	}
	out := console.New(&strings.Builder{}, console.NewSecrets(nil))

	// The next run: it says the same of a board that is over, with the exit code of that.
	if b := n.view(); b.Terminal && n.history.State.Step == nil && !n.never && s.Outcome != event.Interrupted && s.Outcome != event.LimitReached {
		end, ok := flow.Next(&n.history.State, b).(flow.Finish)
		code := codeOf(result.Result{Outcome: end.Outcome})
		if !ok || (code == exitComplete) != (s.Outcome == event.Complete) {
			wrong("the next run ends with %s: %s", end.Outcome, end.Text)
		}
		if (code == exitNeedsPerson) != s.NeedsDecision() {
			wrong("exit code %d, and a decision is needed: %t", code, s.NeedsDecision())
		}
	}

	// Who has to act.
	decides := s.Who() == standing.Decide
	if n.lead.Wait(s.Request()); strings.Contains(n.lead.String(), "- yes -> kanban-run ack k.yaml ") != decides {
		wrong("SUPERVISOR_REPORT: %s", n.lead.String())
	}
	row := report.Table(out, []*standing.Standing{s}, n.now, 0, false)
	if strings.Contains(row[0], string(standing.Decide)) != decides || strings.Contains(row[1], "needs you") != s.NeedsDecision() {
		wrong("the table has %q", row)
	}

	// status
	st := report.NewStatus(*s, n.history, false, flow.Finish{}, nil)
	var text strings.Builder
	if err := st.WriteText(console.New(&text, console.NewSecrets(nil)), false); err != nil {
		wrong("%v", err)
	}
	if strings.Contains(text.String(), "kanban-run ack k.yaml ") != (s.Waits != nil && len(s.Waits.Choices) > 0) {
		wrong("status shows %s", text.String())
	}
	if good := strings.HasPrefix(text.String(), "✓"); good != (s.Weight == event.Success) || good && counts[standing.Waiting]+counts[standing.NotOK]+counts[standing.Dropped] > 0 {
		wrong("status shows %s", text.String())
	}

	// report
	d := n.digest
	report.Conclude(&d, s, "log.md")
	if len(d.Undone) != counts[standing.Waiting]+counts[standing.Dropped] {
		wrong("undone are %v", d.Undone)
	}
	markdown := report.Markdown([]digest.Digest{d}, func(s string) string { return s }, 0)
	if strings.Contains(markdown, "| ✓ | k.yaml |") != (s.Weight == event.Success) {
		wrong("Markdown has %s", markdown)
	}
	junit, err := report.JUnit([]digest.Digest{d}, func(s string) string { return s })
	var suites struct {
		Suites []struct {
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
		} `xml:"testsuite"`
	}
	if err := errors.Join(err, xml.Unmarshal(junit, &suites)); err != nil {
		wrong("%v", err)
	} else if u := suites.Suites[0]; (u.Failures+u.Errors == 0) != (s.Outcome == event.Complete) || u.Failures+u.Errors > 1+len(d.Failed) || u.Skipped != len(d.Undone) {
		wrong("JUnit has %+v", u)
	}

	// the page
	n.page.Digest.Steps = d.Steps
	report.Conclude(&n.page.Digest, s, "log.md")
	n.page.State, n.page.Tasks, n.page.Waits = n.history.State, s.Tasks, s.Waits
	rendered, err := page.Render([]page.Board{n.page}, page.Options{Hide: func(s string) string { return s }})
	shown := html.UnescapeString(string(rendered))
	if err != nil || strings.Contains(shown, "<code>kanban-run ack k.yaml ") != (s.Waits != nil && len(s.Waits.Choices) > 0) {
		wrong("the page has no decision, or one too many: %v", err)
	}
	if strings.Contains(shown, "<h1>Done: k.yaml is complete</h1>") != (s.Weight == event.Success) {
		wrong("the page has another headline")
	}

	// An attempt is one start of one program.
	attempts := 0
	for _, task := range s.Tasks {
		attempts += task.Attempts
	}
	if attempts > d.Counts.Attempts {
		wrong("%d attempts of tasks, %d in all", attempts, d.Counts.Attempts)
	}
	return faults
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
	over := standing.Facts{List: workspace.ListOf(b, noHeader), Board: flow.Board{Terminal: true, SHA: "s"}}
	open := standing.Facts{List: over.List, Current: "2.md"}
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
	for _, r := range []struct {
		end   string
		state flow.State
		facts standing.Facts
	}{
		{"all tasks are done", state(event.Complete, flow.CompleteText, nil, "ok", "ok"), over},
		{"a person ended the board with tasks left", state(event.Complete, flow.CompleteText, nil, "ok"), person},
		{"the Manager ended it with tasks left", state(event.Incomplete, "", nil, "ok"), over},
		{"the Manager ended it with blocked", blocked, over},
		{"an agent is stuck, a review never content", state(event.NeedsPerson, "STUCK: no sign", step, "ok"), open},
		{"an agent gave no valid reply", state(event.Exhausted, "Implementor gave no valid reply", step, "ok"), open},
		{"a checkpoint blocks", checkpoint, open},
		{"a task is in quarantine", loop, open},
		{"the board and the journal disagree", frozen, open},
		{"a limit of yours", state(event.LimitReached, "the limit of 5 steps is reached", nil, "ok"), open},
		{"the provider's limit", state(event.Later, "try again at 17:00", step, "ok"), open},
		{"a signal", state(event.Interrupted, "stopped by signal: interrupt", step, "ok"), open},
		{"killed", state("", "", step, "ok"), open},
		{"complete, and a person gave it a task since", state(event.Complete, flow.CompleteText, nil, "ok"), open},
		{"none: a run is at work", working, owned},
		{"none: never run", flow.State{}, standing.Facts{Never: true, List: over.List}},
	} {
		h := flow.History{State: r.state}
		s := standing.Of("k.yaml", &h, &standing.Tasks{}, r.facts)
		code := fmt.Sprint(codeOf(result.Result{Outcome: s.Outcome, Signal: &signalError{}}))
		switch {
		case s.Outcome == standing.Running || s.Outcome == standing.NeverRun:
			code = ""
		case s.Outcome == standing.Reopened: // the run's own
			code = "0"
		case r.end == "killed":
			code = "137"
		case r.end == "a signal":
			code = "130, 143"
		}
		inbox := "nothing"
		if s.NeedsDecision() {
			inbox = strings.ReplaceAll(s.Waits.Words(), " or ", ", ")
		}
		d := digest.Digest{Board: "k.yaml"}
		report.Conclude(&d, &s, "")
		junit, _ := report.JUnit([]digest.Digest{d}, func(s string) string { return s })
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
		who := string(s.Who())
		if who == "" {
			who = "nobody"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", r.end, code, strings.TrimSpace(report.Sign(s.Weight, false)),
			strings.TrimLeft(strings.TrimPrefix(s.Headline(), "k.yaml"), ": "), who, inbox, verdict))
	}
	return rows
}
