package flow_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
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

	again := event.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: 10, Hash: b.Points[0].Hash, State: b.Snapshot("b").State}
	if b.write(again); len(b.Points) != 1 {
		t.Error("the same snapshot twice is no conflict")
	}
	rival := event.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: 10, State: json.RawMessage(`{"steps":7}`)}
	sum := sha256.Sum256(rival.State)
	rival.Hash = hex.EncodeToString(sum[:])
	if b.write(rival); len(b.Points) != 2 {
		t.Errorf("points = %+v, want two rivals for the same replay index", b.Points)
	}
	old := event.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: 3, Hash: rival.Hash, State: rival.State}
	if b.write(old); len(b.Points) != 2 || b.Breach != nil {
		t.Errorf("an older snapshot counted: %+v, %v", b.Points, b.Breach)
	}
}

// TestUnverifiableSnapshots: what is no candidate.
func TestUnverifiableSnapshots(t *testing.T) {
	good := newBook(t).own("r1").write(start)
	tests := []struct {
		name   string
		change func(*event.SnapshotTaken)
		breach bool
	}{
		{"the hash of another state", func(s *event.SnapshotTaken) { s.Hash = strings.Repeat("0", 64) }, true},
		{"a state that the records do not lead to", func(s *event.SnapshotTaken) {
			s.State = json.RawMessage(`{"steps":7}`)
			sum := sha256.Sum256(s.State)
			s.Hash = hex.EncodeToString(sum[:])
		}, true},
		{"the hash of another state, of earlier records", func(s *event.SnapshotTaken) { s.ReplayIndex, s.Hash = 1, strings.Repeat("0", 64) }, true},
		{"another epoch", func(s *event.SnapshotTaken) { s.Epoch = 9 }, true},
		{"a record that is yet to come", func(s *event.SnapshotTaken) { s.ReplayIndex = 9 }, true},
		{"its own record", func(s *event.SnapshotTaken) { s.ReplayIndex = 4 }, true},
		{"no record at all", func(s *event.SnapshotTaken) { s.ReplayIndex = 0 }, false},
		{"no tuple", func(s *event.SnapshotTaken) { s.Epoch, s.ReplayIndex, s.Hash = 0, 0, "" }, true},
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
	b.write(event.StateDiverged{Source: event.SourceState, Task: "b"}, event.LockEntered{Reason: "r"}, event.LockExited{Decision: event.DecisionNoImpact})
	b.own("r2").write(start, event.StepStarted{Step: 3, Task: "t1", Role: "Implementor", BoardSHA: "a"}, attempt(3, event.TaskCall, 1))
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
			b.write(event.StepStarted{Step: 2, Task: "t2", Role: "Implementor"})
		}, "", []string{"t2"}, 1},
		{"the same record twice", func(b *book) {
			b.step(1)
			e := b.entry(b.entries[len(b.entries)-1].Event)
			e.Rev--
			b.put(e)
		}, "", nil, 1},
		{"two records that make the same revision", func(b *book) {
			b.step(1)
			e := b.entry(event.StepFinished{Step: 1, Task: "t1", Status: "error"})
			e.Rev--
			b.put(e)
		}, "both make revision", []string{"t1"}, 1},
		{"a record that is missing", func(b *book) {
			b.step(1)
			e := b.entry(event.RunFinished{Board: "b"})
			e.Seq++
			b.put(e)
		}, "record 12 follows record 10", nil, 1},
		{"a revision that is missing", func(b *book) {
			b.step(1)
			e := b.entry(event.RunFinished{Board: "b"})
			e.Rev += 5
			b.put(e)
		}, "makes revision 16, after revision 10", []string{"b"}, 1},
		{"records in another order than that of their times", func(b *book) {
			first := b.entry(event.StepStarted{Step: 1, Task: "t1", Role: "Implementor"})
			second := b.entry(event.StepAbandoned{Step: 1, Task: "t1"})
			second.Seq, second.Rev = first.Seq+1, first.Rev+1
			first.Time, second.Time = second.Time.Add(5), first.Time
			b.put(first, second)
		}, "step 1 is not open", []string{"t1"}, 0},
		{"an event that cannot happen", func(b *book) { b.step(1).write(event.StepFinished{Step: 9, Task: "t9"}) }, "step 9 has no accepted", []string{"t9"}, 1},
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
	b.write(event.StepStarted{Step: 2, Task: "t9", Role: "Implementor"}, event.StepStarted{Step: 2, Task: "t2", Role: "Implementor"})
	b.epoch = 1
	b.write(event.StepFinished{Step: 7, Task: "t5"})
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
	exit := r.Exit("b", event.DecisionLead, "why", b.Points[0])
	if !slices.Equal(exit.Findings, want) || !slices.Equal(exit.Affected, r.Affected) || exit.Hash != b.Points[0].Hash || exit.ReplayIndex != 3 || exit.Reason != "why" {
		t.Errorf("the entry of the trail is %+v", exit)
	}
}

// TestLeadEndsABreach: after the Lead's word the rebuilt state stands, and the
// next run goes on from it.
func TestLeadEndsABreach(t *testing.T) {
	b := newBook(t).own("r1").write(start).snapshot().step(1).write(event.StepFinished{Step: 9, Task: "t9"})
	point := b.Points[0]
	b.own("r2").write(event.StateDiverged{Source: event.SourceJournal, Task: "t9"}, event.LockEntered{Reason: "why"},
		event.ReconcileConflict{Text: "why"})
	if b.Frozen() != "why" {
		t.Fatalf("Frozen = %q", b.Frozen())
	}
	r := flow.Rebuild(point, b.after())
	b.write(event.Acknowledged{About: event.AboutJournal, Choice: event.Accept}, r.Exit("b", event.DecisionLead, "why", point))
	if b.Breach != nil || b.Frozen() != "" || b.State.Steps != 1 {
		t.Fatalf("breach %v, frozen %q, %d steps", b.Breach, b.Frozen(), b.State.Steps)
	}
	if b.own("r3").step(2); b.Breach != nil || b.State.Steps != 2 {
		t.Errorf("the next run: breach %v, %d steps", b.Breach, b.State.Steps)
	}
}

// TestJudgeIsCounted: what a judge used counts, and its mark is gone with its answer.
func TestJudgeIsCounted(t *testing.T) {
	running := attempt(1, event.TaskCall, 1)
	b := newBook(t).own("r1").write(start, one, running, event.JudgeAsked{AttemptRef: running.AttemptRef, Judge: "Judge", Mark: "ab"})
	if b.State.Step.Judge == nil || b.State.Step.Judge.Mark != "ab" {
		t.Errorf("judge %+v, want the judge at work", b.State.Step.Judge)
	}
	if b.write(event.JudgeAnswered{AttemptRef: running.AttemptRef, Judge: "Judge", Try: 1, Millis: 7}); b.State.Step.Judge != nil || b.State.Used.Attempts != 1 || b.State.Used.Millis != 7 {
		t.Errorf("judge %+v, used %+v, want the judge counted, and none at work", b.State.Step.Judge, b.State.Used)
	}
}

// TestStandstill: seed 002, "Deterministic reconcile procedure": what a run stops at
// before it starts anything.
func TestStandstill(t *testing.T) {
	rival := func(b *book, state string) event.SnapshotTaken {
		sum := sha256.Sum256([]byte(state))
		return event.SnapshotTaken{Board: "b", Epoch: 1, ReplayIndex: b.Points[0].ReplayIndex, Hash: hex.EncodeToString(sum[:]), State: json.RawMessage(state)}
	}
	tests := []struct {
		name   string
		write  func(b *book)
		want   string
		points string // RollbackPoint's event; "": there is one point
	}{
		{"nothing is wrong", func(b *book) { b.write(b.Snapshot("b")) }, "", ""},
		{"4. no snapshot is no contradiction", func(*book) {}, "", "there is no verifiable snapshot to roll back to, after a test"},
		{"a broken rule", func(b *book) { b.snapshot().write(event.StepFinished{Step: 9}) },
			"STATE_DIVERGENCE: record 5 (STEP_FINISHED): event STEP_FINISHED cannot happen here: step 9 has no accepted Manager reply", ""},
		{"5. rivals", func(b *book) { b.snapshot().write(rival(b, `{"steps":7}`)) },
			"2 snapshots claim to be the state at record 3", "2 snapshots claim to be the state at record 3"},
		{"RECONCILE_LOCK", func(b *book) { b.snapshot().write(event.LockEntered{Reason: "why"}) }, "why", ""},
		{"a frozen board, whatever else is wrong", func(b *book) {
			b.snapshot().write(event.SnapshotNotFound{Text: "gone"}, event.StepFinished{Step: 9})
		}, "gone", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t).own("r1").write(start)
			tt.write(b)
			if got := b.Standstill(); got != tt.want {
				t.Errorf("Standstill = %q, want %q", got, tt.want)
			}
			point, found := b.RollbackPoint("b", "a test")
			text := ""
			switch e := found.(type) {
			case event.SnapshotNotFound:
				text = e.Text
			case event.SnapshotConflict:
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
	for name, exit := range map[string]event.LockExited{
		"another type": {State: json.RawMessage(`{"steps":"seven"}`)},
		"no state":     {State: json.RawMessage(`[]`)},
	} {
		b := newBook(t).own("r1").write(start, event.LockEntered{Reason: "why"}, exit)
		if b.Breach == nil || b.Breach.Seq != 5 || !strings.HasSuffix(b.Breach.Text, "the rebuilt state cannot be read") || b.State.Steps != 0 {
			t.Errorf("%s: breach %v, %d steps", name, b.Breach, b.State.Steps)
		}
		b = newBook(t).own("r1").write(start, event.StepFinished{Step: 9}, event.LockEntered{Reason: "why"}, exit)
		if b.Breach == nil || b.Breach.Seq != 4 {
			t.Errorf("%s, behind a breach: %v, want the first", name, b.Breach)
		}
	}
}

// TestRivalOfAnAcknowledgement: seed 002, "Single rollback point rule": the rebuilt state is the
// rollback point, and a snapshot right behind it is either the same or its rival.
func TestRivalOfAnAcknowledgement(t *testing.T) {
	for state, want := range map[string]int{string(newBook(t).Snapshot("b").State): 1, `{"steps":0}`: 2} {
		b := newBook(t).own("r1").write(start, event.LockEntered{Reason: "why"})
		b.write(event.LockExited{Decision: event.DecisionLead, State: json.RawMessage(state)}).snapshot()
		if b.Breach != nil || len(b.Points) != want || b.Points[0].ReplayIndex != 5 || b.Points[0].Owner != "r1" {
			t.Errorf("after %s: breach %v, points %+v, want %d at record 5", state, b.Breach, b.Points, want)
		}
	}
}
