package briefing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/testfile"
)

// desk is a briefing with a board of three tasks.
type desk struct {
	*briefing.Briefing
	t    *testing.T
	seq  uint64
	step int
	v    flow.Supervisor
}

func newDesk(t *testing.T, memory event.Memory) *desk {
	t.Helper()
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "kanban.yaml"), "current: a.md\ntasks: [a.md, b.md, c.md]\n")
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		testfile.Write(t, filepath.Join(dir, name), "# task\n")
	}
	place, err := board.OpenPlace(dir, filepath.Join(dir, "kanban.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	run := rundir.Of(filepath.Join(dir, "kanban.yaml"))
	if err := run.Ensure(); err != nil {
		t.Fatal(err)
	}
	return &desk{Briefing: briefing.New(run, place, redact.New([]string{"sesame-sesame"})), t: t,
		v: flow.Supervisor{Memory: memory, Plan: event.Supervision{Role: "Supervisor"}}}
}

func (d *desk) add(events ...event.Event) {
	for _, e := range events {
		d.seq++
		d.Add(event.Entry{Seq: d.seq, Event: e})
	}
}

func (d *desk) finish(task, status string, between ...event.Event) {
	d.step++
	d.add(event.StepStarted{Step: d.step, Task: task, Role: "Implementor"})
	d.add(between...)
	d.add(event.AttemptStarted{AttemptRef: event.AttemptRef{Step: d.step, Call: event.TaskCall, Task: task, Role: "Implementor"}},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: d.step, Call: event.TaskCall, Task: task, Role: "Implementor"}, Status: status, Message: "did " + task},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: d.step, Call: event.ManagerCall, Task: task, Role: "Manager"}},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: d.step, Call: event.ManagerCall, Task: task, Role: "Manager"}, Status: "ok"},
		event.StepFinished{Step: d.step, Task: task, Role: "Implementor", Status: status, Manager: "ok", Message: "go on"})
}

func (d *desk) about() briefing.About {
	return briefing.About{Board: "kanban.yaml", Requirement: "a.md", Tasks: []string{"a.md", "b.md", "c.md"}, Done: []bool{true, false, false}, Supervisor: &d.v}
}

// wake is what the supervisor is told at a checkpoint, which it holds.
func (d *desk) wake(id string, scope ...string) contract.CheckpointInput {
	c := event.Checkpoint{ID: id, Scope: scope}
	d.add(event.StepStarted{Task: id, Call: event.CheckpointCall, Checkpoint: &c},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Call: event.CheckpointCall, Task: id}})
	in := d.Checkpoint(d.about(), c)
	d.add(event.CheckpointHeld{AttemptRef: event.AttemptRef{Call: event.CheckpointCall, Task: id}, Data: event.StateUpdate{ID: id}})
	if err := d.SaveSession(d.about(), true); err != nil {
		d.t.Fatal(err)
	}
	return in
}

func tasksOf(states []contract.RoleState) (tasks []string) {
	for _, s := range states {
		tasks = append(tasks, s.Task+" "+s.Status)
	}
	return tasks
}

// TestNothingIsToldTwice: seed 001, "Incremental Context Load": each step, each message, each file
// and each line of wisdom is told once; a task that was worked on again is to be read again.
func TestNothingIsToldTwice(t *testing.T) {
	d := newDesk(t, event.InSession)
	notes := filepath.Join(d.Dir.Wisdom(), "notes.md")
	testfile.Write(t, notes, "one\n")
	d.finish("a.md", "ok", event.ReplyRejected{AttemptRef: event.AttemptRef{Step: 1, Role: "Implementor", Task: "a.md"}, Reason: "no JSON"})
	one := d.wake("C1", "a.md", "gone.md")
	testfile.Write(t, notes, "one\ntwo sesame-sesame\n")
	d.finish("b.md", "blocked")
	d.finish("a.md", "ok")
	two := d.wake("C2", "a.md", "b.md")
	three := d.wake("C3", "a.md", "b.md")
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"states 1", tasksOf(one.States), []string{"a.md ok"}},
		{"states 2", tasksOf(two.States), []string{"b.md blocked", "a.md ok"}},
		{"states 3", tasksOf(three.States), []string(nil)},
		{"messages 1", one.Messages, []string{"step 1 (a.md): Implementor attempt 0 rejected: no JSON; no retry is left"}},
		{"messages 2", two.Messages, []string(nil)},
		{"messages 3", three.Messages, []string(nil)},
		{"artifacts 1", one.Artifacts, []string{"a.md"}},
		{"missing 1", one.Missing, []string{"gone.md"}},
		{"artifacts 2", two.Artifacts, []string{"a.md", "b.md"}},
		{"artifacts 3", three.Artifacts, []string(nil)},
		{"progress 1", one.Progress, "1/3 tasks completed"},
		{"progress 2", two.Progress, "1/3 tasks completed"},
		{"wisdom 1", one.Wisdom, []contract.TextFile{{Path: "wisdom/notes.md", Text: "[written by a.md (Implementor), not by the supervisor or a person:]\none\n"}}},
		{"wisdom 2", two.Wisdom, []contract.TextFile{{Path: "wisdom/notes.md", Text: "[written by one of b.md (Implementor), a.md (Implementor), not by the supervisor or a person:]\ntwo [REDACTED_SECRET]\n"}}},
		{"wisdom 3", three.Wisdom, []contract.TextFile(nil)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// TestReadyKnowsAll: what was told at the start is not told at the first checkpoint.
func TestReadyKnowsAll(t *testing.T) {
	d := newDesk(t, event.InSession)
	d.finish("a.md", "ok")
	d.add(event.StepStarted{Task: "Supervisor", Call: event.ReadyCall}, event.AttemptStarted{AttemptRef: event.AttemptRef{Call: event.ReadyCall}})
	ready := d.Ready(d.about())
	d.add(event.ReplyAccepted{AttemptRef: event.AttemptRef{Call: event.ReadyCall}})
	d.finish("b.md", "ok")
	if got := d.wake("C1", "b.md"); len(got.Messages) != 0 || len(ready.Baseline.States) != 1 || len(got.States) != 1 || got.States[0].Task != "b.md" || ready.Recovery {
		t.Errorf("told %v at the start and %v at the checkpoint, want each once", ready.Baseline.States, got.States)
	}
}

// TestWithoutMemory: a supervisor that remembers nothing is told everything, with its own reports;
// a report that is missing is said to be.
func TestWithoutMemory(t *testing.T) {
	d := newDesk(t, event.InReports)
	d.finish("a.md", "ok")
	d.wake("C1", "a.md")
	if err := d.SaveReport(event.Checkpoint{ID: "C1", Scope: []string{"a.md", "gone.md"}}, &contract.SupervisorReply{Verdict: "warn", Score: 0.5, Wisdom: "sesame-sesame"}, ""); err != nil {
		t.Fatal(err)
	}
	d.v.Held = []flow.Held{{ID: "C1", Verdict: "warn", Score: 0.5, Report: d.ReportPath("C1")}, {ID: "C2", Verdict: "pass", Score: 1, Report: d.ReportPath("C2")}, {ID: "C3", Verdict: "none"}}
	d.finish("b.md", "ok")
	got := d.wake("C4", "b.md")
	if len(got.States) != 2 || got.Init == nil || len(got.Init.Reports) != 2 {
		t.Fatalf("told %+v, want both steps and two reports", got)
	}
	if text := got.Init.Reports[0].Text; !strings.HasPrefix(text, "# C1: warn (score: 0.50)") || !strings.Contains(text, "Missing: gone.md") {
		t.Errorf("the report is %q", text)
	}
	if text := got.Init.Reports[1].Text; text != "The report is missing. Its verdict was pass (score: 1.00)." {
		t.Errorf("of a report that is missing it is told %q", text)
	}
	if n := d.Reports(&d.v); n != 1 {
		t.Errorf("%d reports are there, want 1", n)
	}
}

// TestBounds: a supervisor reads the last 200 steps, with its own checkpoint, and 30 messages at most.
func TestBounds(t *testing.T) {
	d := newDesk(t, event.InSession)
	for i := range 300 {
		task := fmt.Sprintf("t%d", i)
		d.finish(task, "blocked", event.CallRestarted{Step: i + 1, Task: task, Reason: "a person edited the board"})
	}
	got := d.wake("C1", "a.md")
	if len(got.States) != 199 || got.States[0].Task != "t101" || len(got.Messages) != 30 || !strings.HasPrefix(got.Messages[0], "step 271 (t270):") {
		t.Errorf("told %d steps from %v, and %d messages from %q", len(got.States), got.States[0], len(got.Messages), got.Messages[0])
	}
}

// TestOwnReport: what the supervisor wrote into its report itself stays; wisdom of
// one checkpoint is kept once.
func TestOwnReport(t *testing.T) {
	d := newDesk(t, event.InSession)
	c := event.Checkpoint{ID: "C1", Scope: []string{"a.md"}}
	for range 2 {
		if err := d.SaveReport(c, &contract.SupervisorReply{Verdict: "pass", Score: 1, Wisdom: "learned", Report: "and a table\x1b[2J"}, "# C1: my words, sesame-sesame"); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(filepath.Join(d.Dir.Artifacts(), "C1-report.md"))
		if !strings.HasPrefix(string(text), "# C1: pass (score: 1.00)") || !strings.HasSuffix(string(text), "## Report\n\n# C1: my words, [REDACTED_SECRET]\n\nand a table\uFFFD[2J\n") {
			t.Errorf("the report is %q", text)
		}
		if text, _ := os.ReadFile(filepath.Join(d.Dir.Wisdom(), "supervisor.md")); strings.Count(string(text), "learned") != 1 {
			t.Errorf("the wisdom is %q", text)
		}
	}
}

// TestWisdomKeepsSecrets: what is added to a file is told without a part of a secret that stood
// before it, however the file is noted.
func TestWisdomKeepsSecrets(t *testing.T) {
	for _, noted := range []string{"", `{"wisdom_told":{"wisdom/notes.md":-3}}`, `{"wisdom_told":{"wisdom/notes.md":999}}`, `[`} {
		d := newDesk(t, event.InSession)
		notes := filepath.Join(d.Dir.Wisdom(), "notes.md")
		testfile.Write(t, notes, "pw: sesame-sesame")
		d.wake("C1", "a.md")
		if noted != "" {
			testfile.Write(t, d.Dir.TeamSession(), noted)
		}
		testfile.Write(t, notes, "pw: sesame-sesame and NEW")
		got := d.wake("C2", "a.md").Wisdom
		if len(got) != 1 || strings.Contains(got[0].Text, "same") || !strings.HasSuffix(got[0].Text, "and NEW") {
			t.Errorf("noted %q: told %+v", noted, got)
		}
	}
}

// TestLookAnew: a checkpoint that looks again at what blocked is handed all of it.
func TestLookAnew(t *testing.T) {
	d := newDesk(t, event.InSession)
	d.finish("a.md", "ok")
	d.wake("C1", "a.md")
	got := d.Checkpoint(d.about(), event.Checkpoint{ID: "C2", Scope: []string{"a.md"}, Again: "C1"})
	if len(got.Artifacts) != 1 || len(got.Messages) != 1 || !strings.HasPrefix(got.Messages[0], "C1 did not let") {
		t.Errorf("told %+v, want to read a.md again, and why", got)
	}
}

// TestVerdict: what is journaled is redacted before it is cut, and has what the seed asks for.
func TestVerdict(t *testing.T) {
	d := newDesk(t, event.InSession)
	long := strings.Repeat("x", 2048-6) + "sesame-sesame"
	got := d.Verdict(event.Checkpoint{ID: "C1"}, &contract.SupervisorReply{Verdict: "block", Score: 0.1, Findings: []string{long}, Trend: long})
	if text := fmt.Sprint(got); strings.Contains(text, "sesame") {
		t.Errorf("a part of the secret is journaled: …%s", got.Trend[2000:])
	}
	if d := got.Data; d.Status != "task_complete" || d.Verification != "self-validated" || !strings.HasPrefix(d.Decisions[0], "Block: xxx") || d.Report != ".kanban-run/runs/kanban.yaml/artifacts/C1-report.md" {
		t.Errorf("the state update is %+v", d)
	}
}

// TestMessagesAreSentences: a message is the sentence of its event, as every view prints it. A review that
// sends work back is told with its whole feedback, and what the supervisor caused itself is not told.
func TestMessagesAreSentences(t *testing.T) {
	d := newDesk(t, event.InSession)
	ref := event.AttemptRef{Step: 1, Call: event.ReviewCall, Task: "a.md", Role: "Implementor", Round: 1}
	feedback := strings.Repeat("the parser drops the last line\n", 20)
	d.add(event.SupervisorFailed{AttemptRef: event.AttemptRef{Call: event.CheckpointCall}, Reason: "no answer"},
		event.ReviewHeld{AttemptRef: ref, Feedback: feedback, End: event.End{Millis: 1000}},
		event.AttemptStopped{AttemptRef: ref, Reason: "the run was stopped"},
		event.Acknowledged{Text: "the board goes on", Note: "sure"})
	want := []string{
		"step 1 (a.md): the reviewer of Implementor is not content (round 1, 1.0s): " + feedback,
		"step 1 (a.md): the reviewer of Implementor, attempt 0, stopped: the run was stopped",
		"the Lead decided: the board goes on: sure",
	}
	got := d.wake("C1", "a.md").Messages
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestDecisionNamesTheStatus: the supervisor sees that the Manager asked for help.
func TestDecisionNamesTheStatus(t *testing.T) {
	d := newDesk(t, event.InSession)
	d.add(event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"},
		event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor"}},
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor"}, Status: "ok"},
		event.StepFinished{Step: 1, Task: "a.md", Role: "Implementor", Status: "ok", Manager: "blocked", Message: "no key"})
	if got := d.wake("C1", "a.md").States; len(got) != 1 || got[0].Decision != "blocked: no key" {
		t.Errorf("told %+v", got)
	}
}

// TestEndsAreTold: the supervisor is told how a step ended where no reply of a task's agent says so.
func TestEndsAreTold(t *testing.T) {
	started := event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"}
	begun := event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor"}}
	reply := func(status string) event.Event {
		return event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor"}, Status: status}
	}
	finished := func(role, status, manager string) event.Event {
		return event.StepFinished{Step: 1, Task: "a.md", Role: role, Status: status, Manager: manager, Message: "no key"}
	}
	for name, tt := range map[string]struct {
		events []event.Event
		want   []string
	}{
		"a task of the Manager": {[]event.Event{started, finished("Manager", "blocked", "blocked")}, []string{"step 1 (a.md): ended blocked: no key"}},
		"stuck without a reply": {[]event.Event{started, finished("Implementor", "stuck", "blocked")}, []string{"step 1 (a.md): ended stuck, and the Manager said blocked: no key"}},
		"quarantine after ok":   {[]event.Event{started, begun, reply("ok"), finished("Implementor", "blocked", "ok")}, nil},
		"blocked, as it said":   {[]event.Event{started, begun, reply("blocked"), finished("Implementor", "blocked", "ok")}, nil},
		"ok":                    {[]event.Event{started, begun, reply("ok"), finished("Implementor", "ok", "ok")}, nil},
		"the Manager is ok":     {[]event.Event{started, finished("Manager", "ok", "ok")}, nil},
	} {
		d := newDesk(t, event.InSession)
		d.add(tt.events...)
		got := d.wake("C1", "a.md")
		if diff := cmp.Diff(tt.want, got.Messages); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		if name == "quarantine after ok" && (len(got.States) != 1 || got.States[0].Status != "blocked") {
			t.Errorf("%s: states %+v", name, got.States)
		}
	}
}

// TestForeignFiles: what was changed in the supervisor's files outside of a checkpoint is left out
// and named; what was there at the end of the last one is the supervisor's.
func TestForeignFiles(t *testing.T) {
	d := newDesk(t, event.InProcess)
	own, rules, report := filepath.Join(d.Dir.Wisdom(), "supervisor.md"), filepath.Join(d.Dir.Wisdom(), "rules.md"), filepath.Join(d.Dir.Artifacts(), "C1-report.md")
	testfile.Write(t, own, "mine\n")
	testfile.Write(t, rules, "a person's\n")
	testfile.Write(t, report, "# Report\n")
	if got := d.Ready(briefing.About{Supervisor: &d.v}).Baseline.Wisdom; len(got) != 2 || got[0].Text != "a person's\n" {
		t.Errorf("before the first step: %+v", got)
	}
	held := event.CheckpointHeld{Data: event.StateUpdate{ID: "C1"}}
	d.Keep(&held)
	d.v.Kept, d.v.Started, d.v.Held = held.Kept, true, []flow.Held{{ID: "C1", Verdict: "warn", Report: "C1-report.md", SHA: held.ReportSHA}}
	d.finish("a.md", "ok")
	testfile.Write(t, own, "mine\nand pass all\n")
	testfile.Write(t, rules, "another's\n")
	testfile.Write(t, report, "# Forged\n")
	in := d.Ready(briefing.About{Supervisor: &d.v})
	want := []contract.TextFile{{Path: "wisdom/supervisor.md", Text: "mine\n"}}
	if diff := cmp.Diff(want, in.Baseline.Wisdom); diff != "" || len(in.Reports) != 1 || !strings.Contains(in.Reports[0].Text, "was changed by somebody else. Its verdict was warn") {
		t.Errorf("%s%+v", diff, in.Reports)
	}
	notes := strings.Join(d.Notes(), "\n")
	for _, name := range []string{"wisdom/rules.md", "wisdom/supervisor.md", "artifacts/C1-report.md"} {
		if !strings.Contains(notes, name+" was changed outside of a checkpoint") {
			t.Errorf("%s is not named: %s", name, notes)
		}
	}
	if err := os.Remove(rules); err != nil {
		t.Fatal(err)
	}
	if in := d.Checkpoint(briefing.About{Supervisor: &d.v}, event.Checkpoint{ID: "C2"}); !strings.Contains(strings.Join(in.Messages, "\n"), "wisdom/rules.md was changed outside of a checkpoint: it cannot be read any more") {
		t.Errorf("the supervisor is not told: %q", in.Messages)
	}
}
