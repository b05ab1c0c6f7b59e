package flow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// supervised is a run with a supervisor, of which each test takes what it needs.
type supervised struct {
	t *testing.T
	flow.State
	board flow.Board
}

func newSupervised(t *testing.T, memory event.Memory, plan event.Supervision) *supervised {
	plan.Role = "Supervisor"
	s := &supervised{t: t, board: flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}}
	begin := start
	begin.Supervision, begin.Memory = &plan, memory
	return s.apply(begin)
}

func (s *supervised) apply(events ...event.Event) *supervised {
	s.t.Helper()
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			s.t.Fatalf("%s: %v", e.Kind(), err)
		}
	}
	return s
}

// finish finishes a step on a task, with the status of its reply.
func (s *supervised) finish(task, status string) *supervised {
	s.t.Helper()
	n := s.LastStep + 1
	ref := func(c event.Call) event.AttemptRef { return event.AttemptRef{Step: n, Call: c, Task: task, Attempt: 1} }
	return s.apply(event.StepStarted{Step: n, Task: task, Role: "Implementor", BoardSHA: "a"},
		event.AttemptStarted{AttemptRef: ref(event.TaskCall), Input: json.RawMessage(`{}`)},
		event.ReplyAccepted{AttemptRef: ref(event.TaskCall), Status: status},
		event.AttemptStarted{AttemptRef: ref(event.ManagerCall), Input: json.RawMessage(`{}`), Before: &event.Baseline{BoardSHA: "a", Current: task}},
		event.ReplyAccepted{AttemptRef: ref(event.ManagerCall), Status: "ok", NextTask: ptr("t1")},
		event.StepFinished{Step: n, Task: task, Manager: "ok", BoardSHA: "a"})
}

// begin does what Next says, up to the start of the supervisor's program.
func (s *supervised) begin() flow.Spawn {
	s.t.Helper()
	e, ok := flow.Next(&s.State, s.board).(flow.Spawn)
	if !ok || !e.Call.IsSupervision() {
		s.t.Fatalf("Next is %+v, want a call of the supervisor", flow.Next(&s.State, s.board))
	}
	if s.Step == nil {
		s.apply(event.StepStarted{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: "a", Call: e.Call, Checkpoint: e.Checkpoint, Mark: fmt.Sprint("mark", e.Step)})
	}
	intent := event.AttemptStarted{AttemptRef: e.AttemptRef, From: e.From, Adapter: "claude", Resumes: s.Supervisor.Memory == event.InSession, GoesOn: e.GoesOn}
	if s.Step.Input == nil {
		intent.Input = json.RawMessage(`{}`)
	}
	s.apply(intent)
	return e
}

func (s *supervised) ready(session string) *supervised {
	s.t.Helper()
	e := s.begin()
	if e.Call != event.ReadyCall {
		s.t.Fatalf("the call is %s, want it to get ready", e.Call)
	}
	return s.apply(event.ReplyAccepted{AttemptRef: e.AttemptRef, Status: "ok", End: event.End{Session: session}})
}

func (s *supervised) hold(verdict string, findings ...string) *supervised {
	s.t.Helper()
	e := s.begin()
	if e.Call != event.CheckpointCall {
		s.t.Fatalf("the call is %s, want a checkpoint", e.Call)
	}
	return s.apply(event.CheckpointHeld{AttemptRef: e.AttemptRef, End: event.End{Left: "a"}, Data: event.StateUpdate{ID: e.Task, Verdict: verdict, Score: 0.5, Findings: findings,
		Report: "artifacts/" + e.Task + "-report.md"}})
}

// works says whether the board's own task is next.
func (s *supervised) works(task string) {
	s.t.Helper()
	if e, ok := flow.Next(&s.State, s.board).(flow.Spawn); !ok || e.Task != task || e.Call.IsSupervision() {
		s.t.Errorf("Next is %+v, want the work on %s", flow.Next(&s.State, s.board), task)
	}
}

func (s *supervised) ends(want flow.Effect) {
	s.t.Helper()
	if diff := cmp.Diff(want, flow.Next(&s.State, s.board), anyBy); diff != "" {
		s.t.Errorf("Next: -want +got\n%s", diff)
	}
}

var ten = event.Supervision{Every: 2, OnBlock: event.BlockPerson}

// TestSupervisorsLife: seed 001, "Lifecycle": it gets ready before the first task, sleeps, and is
// woken behind every second task and behind the last one, in the session in which it got ready.
func TestSupervisorsLife(t *testing.T) {
	s := newSupervised(t, event.InSession, ten).ready("s1")
	s.works("t1")
	s.finish("t1", "ok").works("t1")
	s.finish("t2", "blocked").works("t1")
	s.finish("t2", "ok")
	e := s.begin()
	want := flow.Spawn{AttemptRef: event.AttemptRef{Step: 5, Call: event.CheckpointCall, Task: "CHECKPOINT-001", Role: "Supervisor", Attempt: 1}, From: "s1",
		Checkpoint: &event.Checkpoint{ID: "CHECKPOINT-001", Scope: []string{"t1", "t2"}, After: "t2"}}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("the checkpoint: -want +got\n%s", diff)
	}
	s.apply(event.CheckpointHeld{AttemptRef: e.AttemptRef, Data: event.StateUpdate{ID: e.Task, Verdict: "pass", Score: 0.9}}).works("t1")
	s.finish("t3", "ok").board = flow.Board{Terminal: true, SHA: "a"}
	if e := s.begin(); e.Task != "CHECKPOINT-002" || len(s.Step.Checkpoint.Scope) != 1 {
		t.Errorf("behind the last task %+v is due, want CHECKPOINT-002 about t3", e)
	}
	s.apply(event.CheckpointHeld{AttemptRef: event.AttemptRef{Step: 7, Call: event.CheckpointCall, Attempt: 1}, Data: event.StateUpdate{Verdict: "warn"}})
	s.ends(flow.Finish{Outcome: event.Complete, Text: "the board is complete"})
	if s.Session != "" {
		t.Errorf("a person would go on in session %s, want that of no supervisor", s.Session)
	}
}

// TestLastTasksAreNotOK: a supervisor is there for work that fails, so the checkpoint after the last
// task comes, and looks at the tasks that are not ok: seed 001, "Wake Cycle".
func TestLastTasksAreNotOK(t *testing.T) {
	for name, replies := range map[string][]string{"the last": {"ok", "blocked"}, "all": {"blocked", "error"}} {
		s := newSupervised(t, event.InReports, event.Supervision{Every: 3, OnBlock: event.BlockPerson})
		for i, reply := range replies {
			s.finish([]string{"t1", "t2"}[i], reply).works("t1")
		}
		s.board = flow.Board{Terminal: true, SHA: "a"}
		e := s.begin()
		if e.Task != "CHECKPOINT-001" || !slices.Equal(s.Step.Checkpoint.Scope, []string{"t1", "t2"}) {
			t.Errorf("%s: %+v is due, want CHECKPOINT-001 about t1 and t2", name, e)
		}
		s.apply(event.CheckpointHeld{AttemptRef: e.AttemptRef, Data: event.StateUpdate{ID: e.Task, Verdict: "pass"}})
		if e, ends := flow.Next(&s.State, s.board).(flow.Finish); !ends {
			t.Errorf("%s: the board goes on with %+v", name, e)
		}
	}
}

// TestEveryCountsTasksThatAreOK: tasks that are not ok make no checkpoint due, and are in the scope of the next.
func TestEveryCountsTasksThatAreOK(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{Every: 2, OnBlock: event.BlockPerson})
	s.finish("t1", "blocked").works("t1")
	s.finish("t2", "blocked").works("t1")
	s.finish("t3", "ok").works("t1")
	s.finish("t2", "ok")
	if e := s.begin(); e.Task != "CHECKPOINT-001" || !slices.Equal(s.Step.Checkpoint.Scope, []string{"t1", "t2", "t3"}) {
		t.Errorf("%+v is due, want CHECKPOINT-001 about t1, t2 and t3", e)
	}
}

// TestDeclaredCheckpoints: those of the board have their own ids and scopes, and the
// runner names none like them.
func TestDeclaredCheckpoints(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{Every: 2, OnBlock: event.BlockPerson, At: []event.CheckpointAt{
		{ID: "CHECKPOINT-001", After: "./t2", Scope: []string{"t1"}}, {ID: "design", After: "t2"}}})
	s.works("t1") // it has nothing to remember, so it is not started
	s.finish("t1", "ok").finish("t2", "ok")
	var ids, scopes []any
	for range 2 {
		e := s.begin()
		ids, scopes = append(ids, e.Task), append(scopes, s.Step.Checkpoint.Scope)
		s.apply(event.CheckpointHeld{AttemptRef: e.AttemptRef, Data: event.StateUpdate{ID: e.Task, Verdict: "pass"}})
	}
	if diff := cmp.Diff([]any{"CHECKPOINT-001", "design"}, ids); diff != "" {
		t.Errorf("held: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]any{[]string{"t1"}, []string{"t1", "t2"}}, scopes); diff != "" {
		t.Errorf("about: -want +got\n%s", diff)
	}
	s.works("t1")
	s.finish("t2", "ok").works("t1") // a checkpoint is held once
	s.finish("t4", "ok")
	if e := s.begin(); e.Task != "CHECKPOINT-002" {
		t.Errorf("the runner names %s, want CHECKPOINT-002", e.Task)
	}
}

// TestBlock: what a block does to the run, for each on_block.
func TestBlock(t *testing.T) {
	const text = "CHECKPOINT-001 blocks (score 0.50): no tests; its report is artifacts/CHECKPOINT-001-report.md"
	blocked := func(on event.OnBlock) *supervised {
		return newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: on}).ready("s1").finish("t1", "ok").hold("block", "no tests")
	}
	over := flow.Board{Terminal: true, SHA: "b"}
	said := flow.Board{Terminal: true, Ended: "blocked", SHA: "c"}
	person := flow.Finish{Outcome: event.NeedsPerson, Text: text}

	s := blocked(event.BlockPerson)
	s.ends(person)
	s.board = over
	s.ends(flow.EndBoard{Text: text})
	s.board = said
	s.ends(person)
	s.board = flow.Board{Terminal: true, Taken: true, SHA: "b"}
	s.ends(person)
	s.board = flow.Board{Task: "t2", Role: "Implementor", SHA: "a"}
	s.apply(event.Acknowledged{About: event.AboutCheckpoint, Choice: event.Override}).works("t2")

	s = blocked(event.BlockAbort)
	s.ends(flow.EndBoard{Text: text})

	blocked(event.BlockOverride).works("t1")

	s = blocked(event.BlockRevise)
	want := flow.Spawn{AttemptRef: event.AttemptRef{Step: 3, Call: event.ManagerCall, Task: "t1", Role: "Manager", Attempt: 1}}
	s.ends(want)
	if a := s.Step.Anomaly; a == nil || a.Details != text || a.Check != "CHECKPOINT-001" {
		t.Errorf("the Manager is told %+v, want what blocks", a)
	}
}

// reopen is a new run on a board with these bytes; it returns the kinds of what it records.
func (s *supervised) reopen(sha string) (kinds []string) {
	s.t.Helper()
	return s.reopenAs(flow.Board{SHA: sha})
}

func (s *supervised) reopenAs(now flow.Board) (kinds []string) {
	s.t.Helper()
	err := closeAndReopen(&s.State, now, func() (flow.Board, error) { return s.board, nil }, func(e event.Event) error {
		kinds = append(kinds, e.Kind())
		return s.Apply(e)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return kinds
}

// TestEditedBlock: a board that was edited since a checkpoint stopped it is looked at
// anew, at once; one that the runner itself has ended is not. Where a person takes the end
// off, the work goes on first.
func TestEditedBlock(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).finish("t1", "ok").hold("block")
	if kinds := s.reopen("a"); kinds != nil || s.Supervisor.Waits() == "" {
		t.Errorf("%v, want it to wait still", kinds)
	}
	if diff := cmp.Diff([]string{"CHECKPOINT_REOPENED"}, s.reopen("f")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if e := s.begin(); e.Task != "CHECKPOINT-002" || s.Step.Checkpoint.Scope[0] != "t1" || s.Step.Checkpoint.Again != "CHECKPOINT-001" {
		t.Errorf("%+v is next, want another look at t1", e)
	}

	s = newSupervised(t, event.InReports, event.Supervision{Every: 1, OnBlock: event.BlockAbort}).finish("t1", "ok").hold("block").apply(
		event.BoardEnded{Task: "CHECKPOINT-001", BoardSHA: "e"})
	waits := func(b flow.Board) {
		t.Helper()
		if kinds := s.reopenAs(b); kinds != nil || s.Supervisor.Waits() == "" {
			t.Errorf("board %+v: %v, want it to wait still", b, kinds)
		}
	}
	waits(flow.Board{SHA: "a"}) // the run died before it wrote
	s.apply(event.RunFinished{Outcome: event.NeedsPerson})
	waits(flow.Board{SHA: "e", Terminal: true, Ended: "blocked"})
	waits(flow.Board{SHA: "f", Terminal: true, Ended: "blocked"}) // no task goes on
	s.reopen("a")                                                 // the end was taken back
	s.works("t1")
	if e := s.finish("t1", "ok").begin(); e.Task != "CHECKPOINT-002" {
		t.Errorf("%+v is next, want a look at the work that was done again", e)
	}
}

// TestRevision: the Manager is called about the task behind which the checkpoint came, also by the
// next run, and a declared checkpoint looks again.
func TestRevision(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{OnBlock: event.BlockRevise, At: []event.CheckpointAt{{ID: "X", After: "t1", Scope: []string{"t3", "t1", "t2"}}}})
	s.finish("t1", "ok").hold("block", "no tests").apply(event.RunInterrupted{})
	s.board = flow.Board{Terminal: true, SHA: "b"} // which a person has edited meanwhile
	if kinds := s.reopen("b"); len(kinds) != 0 && kinds[0] == "STEP_ABANDONED" {
		t.Errorf("%v, want the Manager to be told", kinds)
	}
	want := flow.Spawn{AttemptRef: event.AttemptRef{Step: 2, Call: event.ManagerCall, Task: "t1", Role: "Manager", Attempt: 1}}
	s.ends(want)
	ref := want.AttemptRef
	s.apply(event.AttemptStarted{AttemptRef: ref, Input: json.RawMessage(`{}`), Before: &event.Baseline{BoardSHA: "b"}},
		event.ReplyAccepted{AttemptRef: ref, Status: "ok", NextTask: ptr("t1")}, event.StepFinished{Step: 2, Task: "t1", Manager: "ok", NextTask: ptr("t1"), BoardSHA: "c"})
	s.board = flow.Board{Task: "t1", Role: "Implementor", SHA: "c"}
	s.works("t1")
	if e := s.finish("t1", "ok").begin(); e.Task != "X" || s.Steps != 2 {
		t.Errorf("%+v is next behind %d steps, want X once more behind two", e, s.Steps)
	}
}

// TestRevisionElsewhere: where the Manager has another task mend what blocks, and the declared
// checkpoint does not come again, the last one looks at its scope once more. It was held.
func TestRevisionElsewhere(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{OnBlock: event.BlockRevise, At: []event.CheckpointAt{{ID: "X", After: "t1"}}})
	s.finish("t1", "ok").hold("block", "no tests")
	s.revise("t9")
	s.finish("t9", "ok")
	s.board = flow.Board{Terminal: true, SHA: "d"}
	if e := s.begin(); e.Task != "CHECKPOINT-001" || !slices.Equal(s.Step.Checkpoint.Scope, []string{"t1", "t9"}) {
		t.Errorf("%+v is next, want a look at t1 and t9", e)
	}
	if ids := s.Supervisor.NeverHeld(); len(ids) > 0 {
		t.Errorf("%v were never held", ids)
	}
}

// revise has the Manager name another task, behind a checkpoint that blocks.
func (s *supervised) revise(next string) {
	s.t.Helper()
	ref := event.AttemptRef{Step: s.Step.Number, Call: event.ManagerCall, Task: s.Step.Task, Attempt: 1}
	s.apply(event.AttemptStarted{AttemptRef: ref, Input: json.RawMessage(`{}`), Before: &event.Baseline{BoardSHA: "b"}},
		event.ReplyAccepted{AttemptRef: ref, Status: "ok", NextTask: &next}, event.StepFinished{Step: ref.Step, Manager: "ok", NextTask: &next, BoardSHA: "c"})
	s.board = flow.Board{Task: next, Role: "Implementor", SHA: "c"}
}

// TestAccepted: what the Lead accepts ends as it stands: no other checkpoint comes.
func TestAccepted(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{OnBlock: event.BlockAbort, At: []event.CheckpointAt{{ID: "A", After: "t1"}, {ID: "B", After: "t1"}}}).finish("t1", "ok")
	s.board = flow.Board{Terminal: true, SHA: "e"}
	s.apply(event.Acknowledged{About: event.AboutEnd, Choice: event.Accept, BoardSHA: "e", Text: "accepted by you"})
	s.ends(flow.Finish{Outcome: event.Complete, Text: "accepted by you"})
}

// TestDeclaredAgain: a declared checkpoint that ended the board is held again when its task is
// done again, after a person has named it on the board.
func TestDeclaredAgain(t *testing.T) {
	for name, again := range map[string]func(*supervised){"an edit": func(s *supervised) { s.reopen("f") }} {
		s := newSupervised(t, event.InReports, event.Supervision{OnBlock: event.BlockAbort, At: []event.CheckpointAt{{ID: "FIN", After: "t2", Scope: []string{"t1"}}}})
		s.finish("t1", "ok").finish("t2", "ok").hold("block").apply(event.BoardEnded{Task: "FIN", BoardSHA: "e", Current: "t3"})
		again(s)
		s.works("t1")
		if e := s.finish("t2", "ok").begin(); e.Task != "FIN" {
			t.Errorf("%s: %+v is next, want FIN once more", name, e)
		}
	}
}

// TestExcused: a supervisor that cannot be had does not stop the next run,
// once the Lead has said so.
func TestExcused(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson})
	e := s.begin()
	s.apply(event.AttemptStopped{AttemptRef: e.AttemptRef}, event.CheckpointMissed{Step: 1, Task: "Supervisor", Reason: "no login", BoardSHA: "a"}, event.Acknowledged{About: event.AboutCheckpoint, Choice: event.Override})
	s.apply(event.RunStarted{Supervision: &s.Supervisor.Plan, Memory: event.InSession}).works("t1")
	s.finish("t1", "ok").ready("s1")
	s.apply(event.RunStarted{Supervision: &s.Supervisor.Plan, Memory: event.InSession, Adapter: "codex"})
	if s.Supervisor.Ready || s.Supervisor.Gone {
		t.Errorf("ready %t, gone %t: another program has another session, and is to be had", s.Supervisor.Ready, s.Supervisor.Gone)
	}
}

// TestSessionWithoutVerdict: what a session has not come to, another look does
// not ask of the same session.
func TestSessionWithoutVerdict(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("s1").finish("t1", "ok")
	for range 4 {
		e := s.begin()
		s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "the session is too long"})
	}
	s.apply(event.CheckpointMissed{Step: 3, Task: "CHECKPOINT-001", Reason: "no valid reply"}, event.Acknowledged{About: event.AboutCheckpoint, Choice: event.Retry})
	if e := s.begin(); e.Call != event.ReadyCall || e.From != "" {
		t.Errorf("%+v is next, want it to begin a new session", e)
	}
}

// TestAnotherSupervisor: an open checkpoint is held by the one that the board names
// now, once it has got ready.
func TestAnotherSupervisor(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("s1").finish("t1", "ok")
	s.begin()
	plan := s.Supervisor.Plan
	plan.Role = "Boss"
	s.apply(event.RunStarted{Supervision: &plan, Memory: event.InSession})
	if diff := cmp.Diff([]string{"ATTEMPT_STOPPED", "STEP_ABANDONED"}, s.reopen("a")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if e := s.begin(); e.Call != event.ReadyCall || e.Role != "Boss" || s.Step.Checkpoint.ID != "CHECKPOINT-001" {
		t.Errorf("%+v is next, want Boss to get ready for the open checkpoint", e)
	}
}

// TestSupervisorsMark: no process of a resident outlives its run: the next run finds a supervisor's program by the mark of the
// step in which it got ready, also if that was a checkpoint's step that the run before has left open.
func TestSupervisorsMark(t *testing.T) {
	s := newSupervised(t, event.InProcess, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("")
	if s.Supervisor.Mark != "mark1" {
		t.Errorf("the mark is %q, want that of the first step", s.Supervisor.Mark)
	}
	s.finish("t1", "ok").begin()
	s.apply(event.RunStarted{Limits: s.Limits, Supervision: &s.Supervisor.Plan, Memory: event.InProcess}) // the run died
	s.reopen("a")
	if s.ready(""); s.Step == nil || s.Step.Call != event.CheckpointCall || s.Supervisor.Mark != "mark3" {
		t.Errorf("the mark is %q in the step %+v, want that of the checkpoint's step", s.Supervisor.Mark, s.Step)
	}
}

// TestNoVerdict: retries that run out, an error of the supervisor's own, and a change of what it
// may only read come to no verdict.
func TestNoVerdict(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("s1").finish("t1", "ok")
	for range 4 {
		e := s.begin()
		s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "no verdict in it"})
	}
	s.ends(flow.GiveUpCheckpoint{Reason: "no valid reply in 4 attempts; the last: no verdict in it"})
	s.apply(event.CheckpointMissed{Step: 3, Task: "CHECKPOINT-001", Reason: "no valid reply"})
	s.ends(flow.Finish{Outcome: event.NeedsPerson, Text: "CHECKPOINT-001 came to no verdict: no valid reply"})
	if diff := cmp.Diff([]flow.Held{{ID: "CHECKPOINT-001", Verdict: "none"}}, s.Supervisor.Held); diff != "" {
		t.Errorf("held: -want +got\n%s", diff)
	}

	s = newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockOverride}).ready("s1").finish("t1", "ok")
	e := s.begin()
	s.apply(event.SupervisorFailed{AttemptRef: e.AttemptRef, Reason: "unreadable request", Errors: 1}).works("t1")
	if s.Supervisor.Errors != 1 || !s.Supervisor.Ready {
		t.Errorf("%d errors, ready %t, want one, and it stays: seed 001, \"Error Handling\"", s.Supervisor.Errors, s.Supervisor.Ready)
	}
	s.finish("t2", "ok")
	e = s.begin()
	s.apply(event.ScopeViolated{AttemptRef: e.AttemptRef, Files: []string{"t1"}, Text: "it changed t1"})
	s.ends(flow.Finish{Outcome: event.NeedsPerson, Text: "it changed t1"})
}

// TestSupervisorDies: seed 001, "Crash Recovery": it is recovered before its checkpoint goes on,
// and given up behind three deaths in a row.
func TestSupervisorDies(t *testing.T) {
	s := newSupervised(t, event.InProcess, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("")
	s.apply(event.SupervisorLost{Task: "Supervisor", Reason: "killed"})
	if !s.Supervisor.Started || s.Supervisor.Deaths != 1 {
		t.Errorf("it was started %v and died %d times, want it to be recovered from the first death", s.Supervisor.Started, s.Supervisor.Deaths)
	}
	s.ready("").finish("t1", "ok") // at once, and not with the next checkpoint
	e := s.begin()
	s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "exit status 3", Died: true})
	s.ready("")
	if e := s.begin(); e.Task != "CHECKPOINT-001" || e.Step != 4 {
		t.Errorf("behind the recovery %+v is next, want the open checkpoint", e)
	}
	s.apply(event.RunStarted{Limits: s.Limits, Supervision: &s.Supervisor.Plan, Memory: event.InProcess}) // the run died, too
	if err := closeAndReopen(&s.State, flow.Board{SHA: "a"}, func() (flow.Board, error) { return s.board, nil }, s.Apply); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		e = s.begin()
		s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "exit status 3", Died: true})
	}
	s.ends(flow.GiveUpCheckpoint{Reason: "its program ended 3 times in a row; the last: exit status 3"})
	s.apply(event.CheckpointMissed{Step: 4, Task: "CHECKPOINT-001", Reason: "its program died 3 times in a row"})
	s.ends(flow.Finish{Outcome: event.NeedsPerson, Text: "CHECKPOINT-001 came to no verdict: its program died 3 times in a row"})
	s.apply(event.Acknowledged{About: event.AboutCheckpoint, Choice: event.Override})
	s.ready("").works("t1")
}

// TestSilentSupervisor: a checkpoint that never gets a reply in time is tried as often as the retries say.
func TestSilentSupervisor(t *testing.T) {
	for retries := range 2 {
		s := newSupervised(t, event.InProcess, event.Supervision{Every: 1, OnBlock: event.BlockPerson})
		s.apply(event.RunInterrupted{}, event.RunStarted{Limits: event.Limits{MaxRetries: retries}, Supervision: &s.Supervisor.Plan, Memory: event.InProcess})
		s.ready("").finish("t1", "ok")
		for try := range retries + 1 {
			e := s.begin()
			s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "timed out", Died: true})
			if try < retries {
				s.ready("")
			}
		}
		s.ends(flow.GiveUpCheckpoint{Reason: fmt.Sprintf("its program ended %s in a row; the last: timed out", event.Count(retries+1, "time"))})
	}
}

// TestScopesAreTold: a declared checkpoint takes its scope off the tasks that the next one of
// every looks at, and no other.
func TestScopesAreTold(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{Every: 3, OnBlock: event.BlockPerson, At: []event.CheckpointAt{{ID: "N", After: "t3", Scope: []string{"t1"}}}})
	s.finish("t1", "ok").finish("t2", "ok").finish("t3", "ok")
	if e := s.begin(); e.Task != "N" {
		t.Fatalf("%+v is next, want N", e)
	}
	s.apply(event.CheckpointHeld{AttemptRef: event.AttemptRef{Step: 4, Call: event.CheckpointCall, Attempt: 1}, Data: event.StateUpdate{ID: "N", Verdict: "pass"}})
	s.works("t1")
	s.board = flow.Board{Terminal: true, SHA: "a"}
	if e := s.begin(); e.Task != "CHECKPOINT-001" || len(s.Step.Checkpoint.Scope) != 2 {
		t.Errorf("behind the last task %+v about %v, want the two that N has not looked at", e, s.Step.Checkpoint.Scope)
	}
}

// TestWithoutStart: a supervisor that does not start ends the run as a block does; with override
// it is tried again at its checkpoints.
func TestWithoutStart(t *testing.T) {
	for on, want := range map[event.OnBlock]flow.Effect{
		event.BlockPerson: flow.Finish{Outcome: event.NeedsPerson, Text: "the supervisor cannot be had: no login"},
		event.BlockRevise: flow.Finish{Outcome: event.NeedsPerson, Text: "the supervisor cannot be had: no login"},
		event.BlockAbort:  flow.EndBoard{Text: "the supervisor cannot be had: no login"},
	} {
		s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: on})
		e := s.begin()
		s.apply(event.AttemptStopped{AttemptRef: e.AttemptRef}, event.CheckpointMissed{Step: 1, Task: "Supervisor", Reason: "no login"})
		s.ends(want)
	}
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockOverride})
	e := s.begin()
	s.apply(event.AttemptStopped{AttemptRef: e.AttemptRef}, event.CheckpointMissed{Step: 1, Task: "Supervisor", Reason: "no login"}).works("t1")
	s.finish("t1", "ok").ready("s1").hold("block")
	s.board = flow.Board{Terminal: true, SHA: "a"}
	s.ends(flow.Finish{Outcome: event.Complete, Text: "the board is complete; it went on in spite of CHECKPOINT-001"})
}

// TestRetryOfBlock: the Lead can have a checkpoint look anew.
func TestRetryOfBlock(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).finish("t1", "ok").hold("block").apply(event.Acknowledged{About: event.AboutCheckpoint, Choice: event.Retry})
	if e := s.begin(); e.Task != "CHECKPOINT-002" || s.Step.Checkpoint.Again != "CHECKPOINT-001" {
		t.Errorf("%+v is next, want another look at the same", e)
	}
}

// TestDeclinedCheckpoint: design of the classes: what the provider declines is not tried again, and comes to no
// verdict.
func TestDeclinedCheckpoint(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("s1").finish("t1", "ok")
	e := s.begin()
	s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "safeguards", End: event.End{Class: event.ClassDeclined}})
	s.ends(flow.GiveUpCheckpoint{Reason: "its provider declines it: safeguards"})
}

// TestTaskAgain: where the Lead names a task on a board that a checkpoint ended, that comes first, and
// the next checkpoint looks at the whole scope once more.
func TestTaskAgain(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{Every: 3, OnBlock: event.BlockPerson}).finish("t1", "ok").finish("t2", "ok")
	s.board = flow.Board{Terminal: true, SHA: "a"}
	s.hold("block").apply(event.CheckpointReopened{Task: "CHECKPOINT-001", Later: true})
	s.board = flow.Board{Task: "t2", Role: "Implementor", SHA: "a"}
	s.works("t2")
	s.finish("t2", "ok").board = flow.Board{Terminal: true, SHA: "a"}
	if e := s.begin(); len(s.Step.Checkpoint.Scope) != 2 {
		t.Errorf("%+v looks at %v, want both tasks", e, s.Step.Checkpoint.Scope)
	}
}

// TestLostSession: a session that its tool has forgotten is begun anew,
// with all that was told in it.
func TestLostSession(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("s1").finish("t1", "ok")
	e := s.begin()
	s.apply(event.ReplyRejected{AttemptRef: e.AttemptRef, Reason: "no such session", Lost: true})
	if s.Step.Lost != 1 || s.Step.Rejected != 0 {
		t.Errorf("the session was lost %d times, and %d replies rejected", s.Step.Lost, s.Step.Rejected)
	}
	s.ready("s2")
	if e = s.begin(); e.From != "s2" || e.Task != "CHECKPOINT-001" {
		t.Errorf("%+v is next, want the checkpoint in the new session", e)
	}
	s.apply(event.AttemptStopped{AttemptRef: e.AttemptRef, Reason: "interrupted", End: event.End{Session: "s2"}})
	if e = s.begin(); e.From != "s2" || !e.GoesOn || s.Step.Rejected != 0 {
		t.Errorf("%+v is next, want what was cut short to go on, with all retries", e)
	}
}

// TestWithoutSupervisor: a run whose board declares none any more goes on without it.
func TestWithoutSupervisor(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 1, OnBlock: event.BlockPerson}).ready("s1").finish("t1", "ok")
	s.begin()
	s.apply(start)
	if err := closeAndReopen(&s.State, flow.Board{SHA: "a"}, func() (flow.Board, error) { return s.board, nil }, s.Apply); err != nil {
		t.Fatal(err)
	}
	s.works("t1")
	if s.Step != nil {
		t.Errorf("step %+v is left", s.Step)
	}
	s.finish("t2", "ok").works("t1")
	s.apply(event.RunStarted{Supervision: &s.Supervisor.Plan, Memory: event.InSession})
	s.finish("t3", "ok")
	if e := s.ready("s2").begin(); e.Task != "CHECKPOINT-002" {
		t.Errorf("%s is next, want no checkpoint of the same name", e.Task)
	}
}

// TestLimitsHoldTheSupervisor: what a supervisor uses counts, and none is
// woken when nothing is left.
func TestLimitsHoldTheSupervisor(t *testing.T) {
	s := newSupervised(t, event.InReports, event.Supervision{Every: 1, OnBlock: event.BlockPerson})
	s.Limits.MaxCost = 5
	e := s.finish("t1", "ok").begin()
	cost := int64(7)
	s.apply(event.CheckpointHeld{AttemptRef: e.AttemptRef, Data: event.StateUpdate{ID: e.Task, Verdict: "pass"}, End: event.End{Spent: &event.Spending{Cost: &cost}}}).finish("t2", "ok")
	if end, ok := flow.Next(&s.State, s.board).(flow.Finish); !ok || end.Outcome != event.LimitReached || s.Used.Cost != 7 {
		t.Errorf("Next is %+v, %d used, want the limit to end the run", flow.Next(&s.State, s.board), s.Used.Cost)
	}
}

// TestDroppedCheckpoint: a checkpoint that is due when its board's author takes it out of the plan
// is not held, and the next one looks at its tasks. One that the run has named itself stays.
func TestDroppedCheckpoint(t *testing.T) {
	plan := event.Supervision{Every: 2, At: []event.CheckpointAt{{ID: "CHECKPOINT-A", After: "t1"}}}
	for name, tt := range map[string]struct {
		tasks []string
		kept  []event.CheckpointAt
		due   []string
		since int
	}{
		"it is taken out":         {[]string{"t1"}, nil, nil, 1},
		"it stays":                {[]string{"t1"}, plan.At, []string{"CHECKPOINT-A"}, 0},
		"the run's own stays":     {[]string{"t2", "t3"}, nil, []string{"CHECKPOINT-001"}, 0},
		"another has its place":   {[]string{"t1"}, []event.CheckpointAt{{ID: "CHECKPOINT-B", After: "t5"}}, nil, 1},
		"both are due, one stays": {[]string{"t2", "t3", "t1"}, nil, []string{"CHECKPOINT-001"}, 1},
	} {
		s := newSupervised(t, event.InReports, plan)
		for _, task := range tt.tasks {
			s.finish(task, "ok")
		}
		begin := start
		begin.Supervision, begin.Memory = &event.Supervision{Role: "Supervisor", Every: 2, At: tt.kept}, event.InReports
		s.apply(event.RunFinished{Outcome: event.LimitReached}, begin)
		var due []string
		for _, c := range s.Supervisor.Due {
			due = append(due, c.ID)
		}
		if !slices.Equal(due, tt.due) || len(s.Supervisor.Since) != tt.since {
			t.Errorf("%s: due are %q, and %d tasks wait for the next; want %q and %d", name, due, len(s.Supervisor.Since), tt.due, tt.since)
		}
	}
}

// TestWorkedIn: the folder of a board is that of the first accepted work, and neither a supervisor that gets ready nor a
// later run changes it; nothing is known of a board whose first step says no folder.
func TestWorkedIn(t *testing.T) {
	s := newSupervised(t, event.InSession, event.Supervision{Every: 9})
	s.WorksIn = "."
	if s.ready("s1"); s.WorkedIn != "" {
		t.Errorf("once the supervisor is ready the board was worked on in %q", s.WorkedIn)
	}
	s.finish("t1", "ok")
	s.WorksIn = "../b"
	if s.finish("t2", "ok"); s.WorkedIn != "." {
		t.Errorf("the board was worked on in %q, want the folder of the first step", s.WorkedIn)
	}
	old := newSupervised(t, event.InSession, event.Supervision{Every: 9}).ready("s1").finish("t1", "ok")
	old.WorksIn = "../b"
	if old.finish("t2", "ok"); old.WorkedIn != "" {
		t.Errorf("a board of an earlier version was worked on in %q", old.WorkedIn)
	}
}
