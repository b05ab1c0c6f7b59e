package flow_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/flow"
)

// TestRollbackPoint: seed 002, "last verifiable operational snapshot" and
// "Single rollback point rule".
func TestRollbackPoint(t *testing.T) {
	b := newBook(t).own("r1").write(start).snapshot()
	first := b.Points[0]
	if first.Epoch != 1 || first.ReplayIndex != 3 || len(first.Hash) != 64 {
		t.Fatalf("the identity tuple is %+v", first)
	}
	b.step(1).snapshot()
	if len(b.Points) != 1 || b.Points[0].ReplayIndex != 10 {
		t.Fatalf("points = %+v, want the one with the greatest replay index, 10", b.Points)
	}

	again := flow.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: 10, Hash: b.Points[0].Hash, Version: 1, State: b.Snapshot("b").State}
	if b.write(again); len(b.Points) != 1 {
		t.Error("the same snapshot twice is no conflict")
	}
	rival := flow.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: 10, Version: 1, State: json.RawMessage(`{"steps":7}`)}
	sum := sha256.Sum256(rival.State)
	rival.Hash = hex.EncodeToString(sum[:])
	if b.write(rival); len(b.Points) != 2 {
		t.Errorf("points = %+v, want two rivals for the same replay index", b.Points)
	}
	old := flow.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: 3, Hash: rival.Hash, Version: 1, State: rival.State}
	if b.write(old); len(b.Points) != 2 || b.Breach != nil {
		t.Errorf("an older snapshot counted: %+v, %v", b.Points, b.Breach)
	}
}

// TestUnverifiableSnapshots: what is no candidate.
func TestUnverifiableSnapshots(t *testing.T) {
	good := newBook(t).own("r1").write(start)
	tests := []struct {
		name   string
		change func(*flow.SnapshotTaken)
		breach bool
	}{
		{"the hash of another state", func(s *flow.SnapshotTaken) { s.Hash = strings.Repeat("0", 64) }, true},
		{"a state that the records do not lead to", func(s *flow.SnapshotTaken) {
			s.State = json.RawMessage(`{"steps":7}`)
			sum := sha256.Sum256(s.State)
			s.Hash = hex.EncodeToString(sum[:])
		}, true},
		{"the hash of another state, of earlier records", func(s *flow.SnapshotTaken) { s.ReplayIndex, s.Hash = 1, strings.Repeat("0", 64) }, true},
		{"another epoch", func(s *flow.SnapshotTaken) { s.Epoch = 9 }, true},
		{"a record that is yet to come", func(s *flow.SnapshotTaken) { s.ReplayIndex = 9 }, true},
		{"its own record", func(s *flow.SnapshotTaken) { s.ReplayIndex = 4 }, true},
		{"no record at all", func(s *flow.SnapshotTaken) { s.ReplayIndex = 0 }, false},
		{"no tuple", func(s *flow.SnapshotTaken) { s.Epoch, s.ReplayIndex, s.Hash = 0, 0, "" }, true},
		{"the form of another version of this program", func(s *flow.SnapshotTaken) { s.Version = 99; s.State = json.RawMessage(`{"new":1}`) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t).own("r1").write(start)
			s := good.Snapshot("b")
			tt.change(&s)
			b.write(s)
			if len(b.Points) != 0 || (b.Breach != nil) != tt.breach {
				t.Errorf("points = %v, breach = %v", b.Points, b.Breach)
			}
		})
	}
}

// TestRebuildIsTheFold: without a breach a rebuild comes to the state that the
// history holds, at every record.
func TestRebuildIsTheFold(t *testing.T) {
	b := newBook(t).own("r1").write(start).snapshot().step(1).step(2)
	b.write(flow.StateDiverged{Source: flow.SourceState, Task: "b"}, flow.LockEntered{Reason: "r"}, flow.LockExited{Decision: flow.DecisionNoImpact})
	b.own("r2").write(start, flow.StepStarted{Step: 3, Task: "t1", Role: "Implementor", BoardSHA: "a"}, attempt(3, flow.TaskCall, 1))
	r := flow.Rebuild(b.Points[0], b.after())
	if diff := cmp.Diff(b.State, r.State); diff != "" || r.Conflict != "" || len(r.Affected) > 0 || !r.Same(&b.History) {
		t.Errorf("conflict %q, affected %v, state -fold +rebuilt\n%s", r.Conflict, r.Affected, diff)
	}
}

// TestRebuildChecks: seed 002, "Deterministic reconcile procedure", step 6,
// each check by what it finds.
func TestRebuildChecks(t *testing.T) {
	begin := func() *book { return newBook(t).own("r1").write(start).snapshot() }
	tests := []struct {
		name     string
		write    func(b *book)
		conflict string
		affected []string
		steps    int
	}{
		{"a writer who was never the owner", func(b *book) {
			b.step(1)
			b.epoch = 5
			b.write(flow.StepStarted{Step: 2, Task: "t2", Role: "Implementor"})
		}, "", []string{"t2"}, 1},
		{"the same record twice", func(b *book) {
			b.step(1)
			e := b.entry(b.entries[len(b.entries)-1].Event)
			e.Rev--
			b.put(e)
		}, "", nil, 1},
		{"two records that make the same revision", func(b *book) {
			b.step(1)
			e := b.entry(flow.StepFinished{Step: 1, Task: "t1", Status: "error"})
			e.Rev--
			b.put(e)
		}, "both make revision", []string{"t1"}, 1},
		{"a record that is missing", func(b *book) {
			b.step(1)
			e := b.entry(flow.RunFinished{Board: "b"})
			e.Seq++
			b.put(e)
		}, "record 12 follows record 10", nil, 1},
		{"a revision that is missing", func(b *book) {
			b.step(1)
			e := b.entry(flow.RunFinished{Board: "b"})
			e.Rev += 5
			b.put(e)
		}, "makes revision 16, after revision 10", []string{"b"}, 1},
		{"records in another order than that of their times", func(b *book) {
			first := b.entry(flow.StepStarted{Step: 1, Task: "t1", Role: "Implementor"})
			second := b.entry(flow.StepAbandoned{Step: 1, Task: "t1"})
			second.Seq, second.Rev = first.Seq+1, first.Rev+1
			first.Time, second.Time = second.Time.Add(5), first.Time
			b.put(first, second)
		}, "step 1 is not open", []string{"t1"}, 0},
		{"an event that cannot happen", func(b *book) { b.step(1).write(flow.StepFinished{Step: 9, Task: "t9"}) }, "step 9 has no accepted", []string{"t9"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := begin()
			tt.write(b)
			r := flow.Rebuild(b.Points[0], b.after())
			if (r.Conflict == "") != (tt.conflict == "") || !strings.Contains(r.Conflict, tt.conflict) {
				t.Errorf("conflict = %q, want %q", r.Conflict, tt.conflict)
			}
			if !slices.Equal(r.Affected, tt.affected) || r.State.Steps != tt.steps {
				t.Errorf("affected = %v, steps = %d, want %v and %d", r.Affected, r.State.Steps, tt.affected, tt.steps)
			}
		})
	}
}

// TestFindings: seed 002, "Rollback trail": each check says what it found, in the order of the
// checks, and the affected tasks are sorted.
func TestFindings(t *testing.T) {
	b := newBook(t).own("r1").write(start).snapshot().step(1)
	again := b.entry(b.entries[len(b.entries)-1].Event)
	again.Rev--
	b.put(again)
	b.epoch = 5
	b.write(flow.StepStarted{Step: 2, Task: "t9", Role: "Implementor"}, flow.StepStarted{Step: 2, Task: "t2", Role: "Implementor"})
	b.epoch = 1
	b.write(flow.StepFinished{Step: 7, Task: "t5"})
	r := flow.Rebuild(b.Points[0], b.after())
	want := []string{
		"record 12 (STEP_STARTED): its writer does not own the board: epoch 5 was never handed over, epoch 1 is active",
		"record 13 (STEP_STARTED): its writer does not own the board: epoch 5 was never handed over, epoch 1 is active",
		"record 11 repeats record 10",
		"record 14: event STEP_FINISHED cannot happen here: step 7 has no accepted Manager reply",
	}
	if diff := cmp.Diff(want, r.Findings); diff != "" {
		t.Errorf("Findings: -want +got\n%s", diff)
	}
	if !slices.Equal(r.Affected, []string{"t2", "t5", "t9"}) || r.Conflict != want[3] {
		t.Errorf("affected %v, conflict %q", r.Affected, r.Conflict)
	}
	exit := r.Exit("b", flow.DecisionLead, "why", b.Points[0])
	if !slices.Equal(exit.Findings, want) || !slices.Equal(exit.Affected, r.Affected) || exit.Hash != b.Points[0].Hash || exit.ReplayIndex != 3 || exit.Reason != "why" {
		t.Errorf("the entry of the trail is %+v", exit)
	}
}

// TestLeadEndsABreach: after the Lead's word the rebuilt state stands, and the
// next run goes on from it.
func TestLeadEndsABreach(t *testing.T) {
	b := newBook(t).own("r1").write(start).snapshot().step(1).write(flow.StepFinished{Step: 9, Task: "t9"})
	point := b.Points[0]
	b.own("r2").write(flow.StateDiverged{Source: flow.SourceJournal, Task: "t9"}, flow.LockEntered{Reason: "why"},
		flow.ReconcileConflict{Text: "why"})
	if b.Frozen() != "why" {
		t.Fatalf("Frozen = %q", b.Frozen())
	}
	r := flow.Rebuild(point, b.after())
	b.write(flow.Acknowledged{}, r.Exit("b", flow.DecisionLead, "why", point))
	if b.Breach != nil || b.Frozen() != "" || b.State.Steps != 1 {
		t.Fatalf("breach %v, frozen %q, %d steps", b.Breach, b.Frozen(), b.State.Steps)
	}
	if b.own("r3").step(2); b.Breach != nil || b.State.Steps != 2 {
		t.Errorf("the next run: breach %v, %d steps", b.Breach, b.State.Steps)
	}
}

// TestSnapshotForm: the form of a snapshot's state is fixed by its version. When this fails,
// snapshotVersion has to grow, or every board that was run before is frozen.
func TestSnapshotForm(t *testing.T) {
	limited, told := start, tasked
	limited.Limits = flow.Limits{MaxRetries: 3, MaxSteps: 1, MaxCost: 2, MaxMillis: 3000, MaxTaskSteps: 4, MaxTaskCost: 5, MaxTaskMillis: 6000, MaxAttemptCost: 7}
	told.Session, told.Spent = "s1", &flow.Spending{Input: 10, Cached: 4, Output: 2, Cost: ptr(int64(1))}
	b := newBook(t).own("r1").write(limited, one, attempt(1, flow.TaskCall, 1), told, attempt(1, flow.ManagerCall, 1), managed,
		flow.BoardWriteStarted{Step: 1}, flow.RunInterrupted{Outcome: flow.Later, Until: "2026-11-22T00:00:00Z"})
	form := func(b *book) string {
		s := b.Snapshot("b")
		if s.Version != 13 {
			t.Errorf("version %d, want 13", s.Version)
		}
		return s.Hash
	}
	if got, want := form(b), "58e960fd333e414e41c119bc93a1ada5b270ead55b7617ec7fe496f573c087c4"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
	long := attempt(1, flow.ManagerCall, 1)
	long.SHA = "5a"
	b = newBook(t).own("r1").write(start, one, attempt(1, flow.TaskCall, 1), tasked, long)
	if got, want := form(b), "8c3bfc4e48b2858b0cbd337b661a7544e070da53c72cc98ab3d676f4142fb0ed"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
	strict, blocked := start, tasked
	strict.Strict, blocked.Status = true, "blocked"
	b = newBook(t).own("r1").write(strict, one, attempt(1, flow.TaskCall, 1), blocked, attempt(1, flow.ManagerCall, 1), managed,
		flow.StepFinished{Step: 1, Manager: "ok", BoardSHA: "b"}, flow.Acknowledged{BoardSHA: "b", Choice: flow.Accept, Text: "accepted"})
	if got, want := form(b), "0294791434373a736563536caf06ab227abe97a1bc5ca7466559f5e1d17813c3"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
}

// TestSeventhForm: the same for sessions in which work goes on, and for agents that hung.
func TestSeventhForm(t *testing.T) {
	first, second := attempt(1, flow.TaskCall, 1), attempt(1, flow.TaskCall, 2)
	first.Resumes, first.Adapter, second.Resumes, second.Adapter, second.GoesOn, second.From = true, "claude", true, "claude", true, "s1"
	hung := flow.RebootTested{AttemptRef: first.AttemptRef, Anomaly: flow.Anomaly{Check: "idle"}, Decision: flow.Restart, Text: "silent"}
	again := hung
	again.AttemptRef = second.AttemptRef
	b := newBook(t).own("r1").write(start, one, first, hung, flow.AttemptStopped{AttemptRef: first.AttemptRef, Session: "s1"}, second, again)
	if b.Breach != nil {
		t.Fatal(b.Breach)
	}
	if got, want := b.Snapshot("b").Hash, "d3f91cb4901eebb5042f9acbb8201b9d31f2fb7c5450eb66b528f027993717ab"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
}

// TestEighthForm: the same for a task that is planned anew.
func TestEighthForm(t *testing.T) {
	first := attempt(1, flow.TaskCall, 1)
	hung := flow.RebootTested{AttemptRef: first.AttemptRef, Anomaly: flow.Anomaly{Type: "idle", Check: "idle", Advice: "replan"}, Decision: flow.Replan, Text: "late"}
	b := newBook(t).own("r1").write(start, one, first, hung, flow.AttemptStopped{AttemptRef: first.AttemptRef}, attempt(1, flow.ManagerCall, 1))
	if b.Breach != nil {
		t.Fatal(b.Breach)
	}
	if got, want := b.Snapshot("b").Hash, "9f1e7c302bcd02f06cdefae3f78d9685ab5d23d0095b253ee18c90b6d1c16b3c"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
}

// TestNinthForm: the same for a board with a supervisor.
func TestNinthForm(t *testing.T) {
	supervised := start
	supervised.Supervision, supervised.Memory = &flow.Supervision{Role: "Supervisor", Every: 1, OnBlock: flow.BlockPerson}, flow.InSession
	ready := flow.StepStarted{Step: 1, Task: "Supervisor", Role: "Supervisor", BoardSHA: "a", Call: flow.ReadyCall}
	b := newBook(t).own("r1").write(supervised, ready, attempt(1, flow.ReadyCall, 1),
		flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 1, Call: flow.ReadyCall, Attempt: 1}, Status: "ok", Session: "s1"})
	if b.Breach != nil {
		t.Fatal(b.Breach)
	}
	if got, want := b.Snapshot("b").Hash, "929b7642ffbbf927151861a9e0c0ffbc2df38202c1bc9471fc2bf35c32bc7234"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
}

// TestTenthForm: the same for a task in quarantine.
func TestTenthForm(t *testing.T) {
	b := newBook(t).own("r1").write(start, one, attempt(1, flow.TaskCall, 1), tasked, attempt(1, flow.ManagerCall, 1), managed,
		flow.StepFinished{Step: 1, Manager: "ok", BoardSHA: "b", Leaving: &flow.Leaving{Tree: "x", Finding: "f", Said: "why"}},
		flow.LoopSuspected{Task: "t1", Role: "Implementor", BoardSHA: "b", TaskSHA: "t", Told: true, Suspicion: flow.Suspicion{Text: "round", Recommend: flow.Clarify, Reason: "why"}})
	if b.Breach != nil {
		t.Fatal(b.Breach)
	}
	if got, want := b.Snapshot("b").Hash, "6ee8dc72d8dcfa4ba365ea38052e1240fa5faadb953bfbda5c4268d2a1af18e2"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
}

// TestEleventhForm: the same for a task that is next once more. A snapshot that a version took in
// form 10 is a rollback point.
func TestEleventhForm(t *testing.T) {
	b := newBook(t).own("r1").write(start, one, attempt(1, flow.TaskCall, 1), tasked, attempt(1, flow.ManagerCall, 1), managed,
		flow.StepFinished{Step: 1, Manager: "ok", BoardSHA: "b", Leaving: &flow.Leaving{Other: true, Tree: "x"}})
	if got, want := b.Snapshot("b").Hash, "79a63d9465ec64c0e7cd965fb0faf2c52ba2ebe0f9bcda12588e38e4d1fbe576"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
	state := string(b.Snapshot("b").State)
	at := strings.Index(state, `,"turns":`)
	if at < 0 {
		t.Fatal(state)
	}
	tenth := state[:at] + "}"
	sum := sha256.Sum256([]byte(tenth))
	if b.write(older(b, 10, tenth, hex.EncodeToString(sum[:]))); b.Breach != nil || len(b.Points) != 1 {
		t.Errorf("breach %v, points %+v, want the snapshot as the rollback point", b.Breach, b.Points)
	}
}

// TestTwelfthForm: the same for an agent that is judged.
func TestTwelfthForm(t *testing.T) {
	running := attempt(1, flow.TaskCall, 1)
	b := newBook(t).own("r1").write(start, one, running, flow.JudgeAsked{AttemptRef: running.AttemptRef, Judge: "Judge", Mark: "ab"})
	if got, want := b.Snapshot("b").Hash, "0de4b127b2cf81d3dbe2cc74f3eedb3349a6fd9fe70118ac81797c675c83cf97"; got != want {
		t.Errorf("the hash is %s, want %s; the form:\n%s", got, want, b.Snapshot("b").State)
	}
	if b.write(flow.JudgeAnswered{AttemptRef: running.AttemptRef, Judge: "Judge", Tries: 1, Millis: 7}); b.State.Step.JudgeMark != "" || b.State.Used.Attempts != 1 || b.State.Used.Millis != 7 {
		t.Errorf("mark %q, used %+v, want the judge counted, and none at work", b.State.Step.JudgeMark, b.State.Used)
	}
}

// TestThirdForm: a state in form 3 kept what tasks used under limits for tasks only.
func TestThirdForm(t *testing.T) {
	const state = `{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"a","mark":"","call":"manager","input":{},"input_sha256":"5a","started":1,"rejected":0,"running":1,"left":"","last_reason":"","disagreed":false,"task_status":"ok","before":{"board_sha256":"a","current":"t1"},"reply":null,"writing":null},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false,"used":{"attempts":1,"told":0,"priced":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"cost_microusd":0,"millis":0},"total":{"attempts":1,"told":0,"priced":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"cost_microusd":0,"millis":0}}`
	const hash = "046aedbf20515de2e1e6ba0ecd49e5773d18dafcf6a020f16dce6bc90d8d9cdd"
	long := attempt(1, flow.ManagerCall, 1)
	long.SHA = "5a"
	b := newBook(t).own("r1").write(start, one, attempt(1, flow.TaskCall, 1), tasked, long)
	b.write(older(b, 3, state, hash))
	if b.Breach != nil || len(b.Points) != 1 || b.Points[0].Hash != hash || len(b.Points[0].State.Tasks) != 1 {
		t.Errorf("breach %v, points %+v, want the snapshot as the rollback point, with what the task has used", b.Breach, b.Points)
	}
}

// recordedState is what a version before form 3 wrote after an accepted reply of the Manager.
const recordedState = `{"running":true,"outcome":"","text":"","limits":{"max_retries":3,"max_steps":0},"steps":0,"last_step":1,"step":{"number":1,"task":"t1","role":"Implementor","board_sha256":"a","mark":"","call":"manager","input":{},"started":1,"rejected":0,"running":0,"left":"","last_reason":"","disagreed":false,"task_status":"ok","before":{"board_sha256":"a","current":"t1"},"reply":{"step":1,"call":"manager","task":"","role":"","attempt":1,"status":"ok","message":"","next_task":"t2","millis":0},"writing":{"step":1,"task":"","before_sha256":"","after_sha256":""}},"repeat":{"task":"t1","role":"Implementor","board_sha256":"a","count":1},"frozen":null,"last":{"status":"","message":"","board_sha256":"","acknowledged":false},"spent":false}`

// older is the snapshot that a version of this program has taken here that
// wrote states in form 1 or 2.
func older(b *book, version int, state, hash string) flow.SnapshotTaken {
	s := b.Snapshot("b")
	s.Version, s.State, s.Hash = version, json.RawMessage(state), hash
	return s
}

// TestOlderSnapshots: a board that was run before has snapshots of the forms before. They are
// rollback points, and nothing that the records say beyond them is lost by a rollback.
func TestOlderSnapshots(t *testing.T) {
	const hash = "f6bd8b617e516f44a46671fd0707ad048605ffc7a8fadf768fd57c309114f343"
	for _, version := range []int{1, 2} {
		b := newBook(t).own("r1").write(start, one, attempt(1, flow.TaskCall, 1), tasked, attempt(1, flow.ManagerCall, 1), managed,
			flow.BoardWriteStarted{Step: 1})
		old := older(b, version, recordedState, hash)
		if b.write(old); b.Breach != nil || len(b.Points) != 1 || b.Points[0].Hash != hash {
			t.Fatalf("version %d: breach %v, points %+v, want the snapshot as the rollback point", version, b.Breach, b.Points)
		}
		b.write(flow.BoardWritten{Step: 1}, flow.StepFinished{Step: 1, Manager: "ok"})
		if r := flow.Rebuild(b.Points[0], b.after()); !r.Same(&b.History) || r.State.Total.Attempts != 2 {
			t.Errorf("version %d: a rollback leads to %+v, conflict %q, want the two attempts still", version, r.State.Total, r.Conflict)
		}
	}
	for _, version := range []int{0, 14} {
		b := newBook(t).own("r1").write(start, one)
		other := b.Snapshot("b")
		other.Version = version
		if b.write(other); b.Breach != nil || len(b.Points) != 0 {
			t.Errorf("version %d: breach %v, points %+v, want it passed over", version, b.Breach, b.Points)
		}
	}
}

// TestOlderAcknowledgement: what was used is not forgotten with a state that
// an older version rebuilt.
func TestOlderAcknowledgement(t *testing.T) {
	b := newBook(t).own("r1").write(start, one, attempt(1, flow.TaskCall, 1), tasked, flow.LockEntered{Board: "b", Reason: "r"})
	b.write(flow.LockExited{Board: "b", Decision: flow.DecisionLead, Version: 2, State: json.RawMessage(recordedState)})
	if b.Breach != nil || b.State.Step == nil || b.State.Step.Reply == nil || b.State.Total.Attempts != 1 {
		t.Errorf("breach %v, state %+v, want the rebuilt state and the one attempt", b.Breach, b.State)
	}
}

// TestFourthForm: a state that was rebuilt by a version before form 5 says nothing of what that
// form has added; the records did.
func TestFourthForm(t *testing.T) {
	strict, blocked := start, tasked
	strict.Strict, blocked.Status = true, "blocked"
	for version, kept := range map[int]bool{4: true, 5: false, 6: false} {
		b := newBook(t).own("r1").write(strict, one, attempt(1, flow.TaskCall, 1), blocked, attempt(1, flow.ManagerCall, 1), managed,
			flow.StepFinished{Step: 1, Manager: "ok", BoardSHA: "b"}, flow.LockEntered{Board: "b", Reason: "r"})
		b.write(flow.LockExited{Board: "b", Decision: flow.DecisionLead, Version: version, State: json.RawMessage(recordedState)})
		if s := b.State; b.Breach != nil || s.Strict != kept || (s.Finished == 1) != kept || (len(s.NotOK) == 1) != kept {
			t.Errorf("form %d: breach %v, state %+v, want what the records said: %t", version, b.Breach, s, kept)
		}
	}
}

// TestOlderVersionWentOn: one that knows no form 3 has run a board after one that does, and did
// not see what attempts came to.
func TestOlderVersionWentOn(t *testing.T) {
	limited := start
	limited.Limits.MaxTaskCost = 5
	told := managed
	told.Session, told.Spent = "s1", &flow.Spending{Input: 1, Output: 2, Cost: ptr(int64(3))}
	b := newBook(t).own("r1").write(limited, one, attempt(1, flow.TaskCall, 1), tasked, attempt(1, flow.ManagerCall, 1), told,
		flow.BoardWriteStarted{Step: 1})
	b.write(older(b, 2, recordedState, "f6bd8b617e516f44a46671fd0707ad048605ffc7a8fadf768fd57c309114f343"))
	if b.Breach != nil || b.State.Used.Cost != 3 || len(b.Points) != 1 || b.Points[0].State.Used.Cost != 3 {
		t.Errorf("breach %v, used %+v, points %+v, want the cost still", b.Breach, b.State.Used, b.Points)
	}
}

// TestStandstill: seed 002, "Deterministic reconcile procedure": what a run stops at
// before it starts anything.
func TestStandstill(t *testing.T) {
	rival := func(b *book, state string) flow.SnapshotTaken {
		sum := sha256.Sum256([]byte(state))
		return flow.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: b.Points[0].ReplayIndex, Hash: hex.EncodeToString(sum[:]), Version: 4, State: json.RawMessage(state)}
	}
	tests := []struct {
		name   string
		write  func(b *book)
		want   string
		points string // RollbackPoint's event; "": there is one point
	}{
		{"nothing is wrong", func(b *book) { b.write(b.Snapshot("b")) }, "", ""},
		{"4. no snapshot is no contradiction", func(*book) {}, "", "SNAPSHOT_NOT_FOUND: there is no verifiable snapshot to roll back to, after a test"},
		{"a broken rule", func(b *book) { b.snapshot().write(flow.StepFinished{Step: 9}) },
			"STATE_DIVERGENCE: record 5 (STEP_FINISHED): event STEP_FINISHED cannot happen here: step 9 has no accepted Manager reply", ""},
		{"5. rivals", func(b *book) { b.snapshot().write(rival(b, `{"steps":7}`)) },
			"SNAPSHOT_CONFLICT: 2 snapshots claim to be the state at record 3", "SNAPSHOT_CONFLICT: 2 snapshots claim to be the state at record 3"},
		{"RECONCILE_LOCK", func(b *book) { b.snapshot().write(flow.LockEntered{Reason: "why"}) }, "why", ""},
		{"a frozen board, whatever else is wrong", func(b *book) {
			b.snapshot().write(flow.SnapshotNotFound{Text: "gone"}, flow.StepFinished{Step: 9})
		}, "gone", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t).own("r1").write(start)
			tt.write(b)
			if got := b.Standstill(); got != tt.want {
				t.Errorf("Standstill = %q, want %q", got, tt.want)
			}
			point, event := b.RollbackPoint("b", "a test")
			text := ""
			switch e := event.(type) {
			case flow.SnapshotNotFound:
				text = e.Text
			case flow.SnapshotConflict:
				text = e.Text
				if e.ReplayIndex != 3 || len(e.Hashes) != 2 {
					t.Errorf("the conflict is %+v", e)
				}
			case nil:
				if point.ReplayIndex != 3 || point.Owner != "r1" {
					t.Errorf("the rollback point is %+v", point)
				}
			}
			if text != tt.points {
				t.Errorf("RollbackPoint says %q, want %q", text, tt.points)
			}
		})
	}
}

// TestUnreadableAcknowledgement: a rebuilt state that this version cannot read ends nothing.
func TestUnreadableAcknowledgement(t *testing.T) {
	for name, exit := range map[string]flow.LockExited{
		"a newer form":   {Version: 14, State: json.RawMessage(`{"steps":7}`)},
		"no form at all": {State: json.RawMessage(`{"steps":7}`)},
		"no state":       {Version: 4, State: json.RawMessage(`[]`)},
	} {
		b := newBook(t).own("r1").write(start, flow.LockEntered{Reason: "why"}, exit)
		if b.Breach == nil || b.Breach.Seq != 5 || !strings.HasSuffix(b.Breach.Text, "the rebuilt state cannot be read") || b.State.Steps != 0 {
			t.Errorf("%s: breach %v, %d steps", name, b.Breach, b.State.Steps)
		}
		b = newBook(t).own("r1").write(start, flow.StepFinished{Step: 9}, flow.LockEntered{Reason: "why"}, exit)
		if b.Breach == nil || b.Breach.Seq != 4 {
			t.Errorf("%s, behind a breach: %v, want the first", name, b.Breach)
		}
	}
}

// TestRivalOfAnAcknowledgement: seed 002, "Single rollback point rule": the rebuilt state is the
// rollback point, and a snapshot right behind it is either the same or its rival.
func TestRivalOfAnAcknowledgement(t *testing.T) {
	for state, want := range map[string]int{string(newBook(t).Snapshot("b").State): 1, `{"steps":0}`: 2} {
		b := newBook(t).own("r1").write(start, flow.LockEntered{Reason: "why"})
		b.write(flow.LockExited{Decision: flow.DecisionLead, Version: 4, State: json.RawMessage(state)}).snapshot()
		if b.Breach != nil || len(b.Points) != want || b.Points[0].ReplayIndex != 5 || b.Points[0].Owner != "r1" {
			t.Errorf("after %s: breach %v, points %+v, want %d at record 5", state, b.Breach, b.Points, want)
		}
	}
}

// TestThirdFormOfAnAcknowledgement: it says what was used, but of tasks only
// where a limit asked for it.
func TestThirdFormOfAnAcknowledgement(t *testing.T) {
	told := flow.ReplyAccepted{AttemptRef: flow.AttemptRef{Step: 2, Call: flow.TaskCall, Attempt: 1}, Session: "s1"}
	for _, tt := range []struct {
		version int
		cost    int64
		session string
	}{{2, 14, "s1"}, {3, 5, ""}} {
		b := newBook(t).own("r1").write(start).write(stepOf(1, "t1", 7, 1)...)
		b.write(flow.StepStarted{Step: 2, Task: "t1"}, attempt(2, flow.TaskCall, 1), told, flow.LockEntered{Reason: "why"})
		b.write(flow.LockExited{Decision: flow.DecisionLead, Version: tt.version, State: json.RawMessage(`{"steps":7,"used":{"cost_microusd":5},"total":{"cost_microusd":5}}`)})
		s := b.State
		if b.Breach != nil || s.Steps != 7 || s.Used.Cost != tt.cost || s.Total.Cost != tt.cost || s.Session != tt.session || len(s.Tasks) != 1 {
			t.Errorf("form %d: breach %v, state %+v, want a cost of %d, session %q and the task", tt.version, b.Breach, s, tt.cost, tt.session)
		}
	}
	b := newBook(t).own("r1").write(start).write(stepOf(1, "t1", 7, 1)...).write(flow.LockEntered{Reason: "why"})
	b.write(flow.LockExited{Decision: flow.DecisionLead, Version: 4, State: json.RawMessage(`{"steps":7}`)})
	if len(b.State.Tasks) != 0 {
		t.Errorf("form 4: tasks %+v, want those of the rebuilt state", b.State.Tasks)
	}
}
