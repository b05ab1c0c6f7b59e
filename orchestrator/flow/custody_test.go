package flow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// book writes a history as runs do, and lets a test write what no run would.
type book struct {
	t *testing.T
	flow.History
	epoch   uint64
	entries []event.Entry
}

func newBook(t *testing.T) *book { return &book{t: t} }

func (b *book) entry(e event.Event) event.Entry {
	return event.Entry{Seq: b.Seq + 1, Epoch: b.epoch, Rev: b.Rev + 1, Time: time.Unix(int64(b.Seq+1), 0), Actor: event.Actor(e), Event: e}
}

func (b *book) put(entries ...event.Entry) {
	for _, e := range entries {
		b.entries = append(b.entries, e)
		b.Add(e)
	}
}

func (b *book) write(events ...event.Event) *book {
	for _, e := range events {
		b.put(b.entry(e))
	}
	return b
}

// own hands the board to a run.
func (b *book) own(owner string) *book {
	b.epoch = b.Custody.Epoch + 1
	return b.write(event.HandoffOffered{Board: "b", Epoch: b.epoch, Owner: owner}, event.HandoffAcked{Board: "b", Epoch: b.epoch, Owner: owner})
}

// step is a whole step whose reply wrote nothing.
func (b *book) step(n int) *book {
	return b.write(event.StepStarted{Step: n, Task: "t1", Role: "Implementor", BoardSHA: "a"}, attempt(n, event.TaskCall, 1),
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.TaskCall, Task: "t1", Attempt: 1}, Status: "ok"}, attempt(n, event.ManagerCall, 1),
		event.ReplyAccepted{AttemptRef: event.AttemptRef{Step: n, Call: event.ManagerCall, Task: "t1", Attempt: 1}, Status: "ok"}, event.StepFinished{Step: n, Task: "t1"})
}

func (b *book) snapshot() *book { return b.write(b.Snapshot("b")) }

// after are the entries behind the rollback point.
func (b *book) after() []event.Entry {
	return b.entries[b.Points[0].ReplayIndex:]
}

// TestCustody goes through the rules of seed 002, "Lead -> Supervisor handoff
// contract", by their numbers.
func TestCustody(t *testing.T) {
	tests := []struct {
		name  string
		write func(*book)
		kind  flow.BreachKind // "": no breach
		text  string
	}{
		{"4. a run owns the board after the ACK", func(b *book) { b.own("r1").write(start) }, "", ""},
		{"2. and 3. the next epoch", func(b *book) { b.own("r1").own("r2").write(start) }, "", ""},
		{"2. an epoch that was left out", func(b *book) {
			b.own("r1")
			b.epoch = 7
			b.write(event.HandoffOffered{Epoch: 7, Owner: "r2"}, event.HandoffAcked{Epoch: 7, Owner: "r2"}, start)
		}, "", ""},
		{"a handoff that died before its ACK", func(b *book) {
			b.own("r1")
			b.epoch = 2
			b.write(event.HandoffOffered{Epoch: 2, Owner: "r2"})
			b.epoch = 3
			b.write(event.HandoffOffered{Epoch: 3, Owner: "r3"}, event.HandoffAcked{Epoch: 3, Owner: "r3"}, start)
		}, "", ""},
		{"3. and 8. a stale epoch", func(b *book) {
			b.own("r1").own("r2")
			b.epoch = 1
			b.write(event.HandoffOffered{Epoch: 1, Owner: "r3"})
		}, flow.Conflict, "epoch 1 is stale, epoch 2 is active"},
		{"a handoff of another epoch than its record's", func(b *book) {
			b.own("r1").write(event.HandoffOffered{Epoch: 2, Owner: "r2"})
		}, flow.Conflict, "a handoff of epoch 2 in epoch 1"},
		{"an ACK of another epoch than its record's", func(b *book) {
			b.epoch = 1
			b.write(event.HandoffOffered{Epoch: 1, Owner: "r1"})
			b.epoch = 2
			b.write(event.HandoffAcked{Epoch: 1, Owner: "r1"})
		}, flow.NoHandoff, "was not handed over"},
		{"epoch 0", func(b *book) { b.write(start) }, flow.NoHandoff, "epoch 0"},
		{"a record of another writer", func(b *book) {
			b.own("r1").write(start, event.StateDiverged{Source: event.SourceBoard, Policy: "freeze", Text: "why"})
			e := b.entry(event.Acknowledged{})
			e.Actor = "Implementor"
			b.put(e)
		}, flow.Conflict, "it is Lead's to write"},
		{"the end of a RECONCILE_LOCK that is not on", func(b *book) {
			b.own("r1").write(start, event.LockExited{State: []byte(`{"steps":41}`)})
		}, flow.Conflict, "RECONCILE_LOCK is not on"},
		{"5. an operational write before the ACK", func(b *book) {
			b.own("r1")
			b.epoch = 2
			b.write(event.HandoffOffered{Epoch: 2, Owner: "r2"}, start)
		}, flow.NoHandoff, "epoch 2 was never handed over, epoch 1 is active"},
		{"5. nor may a run without the ACK tell of a divergence", func(b *book) {
			b.own("r1")
			b.epoch = 2
			b.write(event.StateDiverged{Source: event.SourceJournal})
		}, flow.NoHandoff, "epoch 2 was never handed over, epoch 1 is active"},
		{"but in RECONCILE_LOCK it may", func(b *book) {
			b.own("r1").write(event.LockEntered{Reason: "why"})
			b.epoch = 2
			b.write(event.StateDiverged{Source: event.SourceJournal})
		}, "", ""},
		{"10. a write without any handoff", func(b *book) { b.epoch = 1; b.write(start) }, flow.NoHandoff, "epoch 1"},
		{"10. an ACK for another owner", func(b *book) {
			b.epoch = 1
			b.write(event.HandoffOffered{Epoch: 1, Owner: "r1"}, event.HandoffAcked{Epoch: 1, Owner: "r2"})
		}, flow.NoHandoff, "r2"},
		{"10. an ACK again", func(b *book) {
			b.own("r1").write(event.HandoffAcked{Epoch: 1, Owner: "r1"})
		}, flow.NoHandoff, "epoch 1 was not handed over to r1"},
		{"10. an ACK of no epoch by the last owner", func(b *book) {
			b.own("r1")
			b.epoch = 0
			b.write(event.HandoffAcked{Owner: "r1"})
		}, flow.NoHandoff, "epoch 0 was not handed over to r1"},
		{"10. an ACK of no epoch by no owner", func(b *book) {
			b.own("r1")
			b.epoch = 0
			b.write(event.HandoffAcked{})
		}, flow.NoHandoff, "epoch 0 was not handed over to "},
		{"9. the active handoff again is a no-op", func(b *book) {
			b.own("r1").write(event.HandoffOffered{Epoch: 1, Owner: "r1"}, start)
		}, "", ""},
		{"11. two owners of one epoch", func(b *book) {
			b.own("r1").write(start, event.HandoffOffered{Epoch: 1, Owner: "r2"})
		}, flow.TwoOwners, "r1 and r2 both own epoch 1"},
		{"11. two offers of one epoch", func(b *book) {
			b.epoch = 1
			b.write(event.HandoffOffered{Epoch: 1, Owner: "r1"}, event.HandoffOffered{Epoch: 1, Owner: "r2"})
		}, flow.TwoOwners, "r1 and r2 both own epoch 1"},
		{"a handoff in RECONCILE_LOCK", func(b *book) {
			b.own("r1").write(event.LockEntered{Reason: "why"})
			b.own("r2")
		}, flow.Conflict, "RECONCILE_LOCK"},
		{"a revision twice", func(b *book) {
			b.own("r1").write(start)
			e := b.entry(one)
			e.Rev--
			b.put(e)
		}, flow.Conflict, "revision 3"},
		{"an event that cannot happen", func(b *book) { b.own("r1").write(start, event.StepFinished{Step: 9}) }, flow.Conflict, "step 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t)
			tt.write(b)
			switch {
			case tt.kind == "" && b.Breach != nil:
				t.Errorf("breach: %v", b.Breach)
			case tt.kind != "" && (b.Breach == nil || b.Breach.Kind != tt.kind || !strings.Contains(b.Breach.Text, tt.text)):
				t.Errorf("breach = %+v, want %s with %q", b.Breach, tt.kind, tt.text)
			}
		})
	}
}

// TestDuplicateHandoffIsCountedOnce: rule 9, reported by HANDOFF_DUPLICATE.
func TestDuplicateHandoffIsCountedOnce(t *testing.T) {
	b := newBook(t).own("r1").write(event.HandoffOffered{Epoch: 1, Owner: "r1"})
	if b.Custody.Offers != 1 {
		t.Fatalf("Offers = %d, want 1", b.Custody.Offers)
	}
	if b.write(event.HandoffDuplicate{Epoch: 1, Owner: "r1", Count: 1}); b.Custody.Offers != 0 {
		t.Errorf("Offers = %d after the report, want 0", b.Custody.Offers)
	}
}

// TestReconcileLock: in it only the events that seed 002 lists may be written, and the Lead's word.
func TestReconcileLock(t *testing.T) {
	allowed := []event.Event{event.StateDiverged{Source: event.SourceState}, event.SnapshotNotFound{}, event.SnapshotConflict{}, event.ReconcileConflict{},
		event.LockEntered{Reason: "again"}, event.LockExited{}, event.Acknowledged{}}
	refused := []event.Event{start, one, event.RunFinished{}, event.RunInterrupted{}, event.SnapshotTaken{}, event.HandoffDuplicate{}, event.HandoffOffered{Epoch: 2},
		event.BoardWritten{}, event.StepFinished{}, event.StepAbandoned{}}
	locked := func() *book { return newBook(t).own("r1").write(start, event.LockEntered{Reason: "why"}) }
	for _, e := range allowed {
		b := locked()
		if err := b.Extend(b.entry(e)); err != nil {
			t.Errorf("%s in RECONCILE_LOCK = %v, want it allowed", e.Kind(), err)
		}
	}
	for _, e := range refused {
		b := locked()
		var transition *flow.TransitionError
		if err := b.Extend(b.entry(e)); !errors.As(err, &transition) {
			t.Errorf("%s in RECONCILE_LOCK = %v, want it refused", e.Kind(), err)
		}
	}
	if b := locked().write(event.LockExited{}, one); b.Breach != nil || b.Frozen() != "" {
		t.Errorf("after RECONCILE_LOCK_EXIT: %v, frozen %q", b.Breach, b.Frozen())
	}
}

// TestRefusedWriteChangesNothing: Extend leaves the history as it was.
func TestRefusedWriteChangesNothing(t *testing.T) {
	b := newBook(t).own("r1").write(start)
	was, err := json.Marshal(b.History)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Extend(b.entry(event.StepFinished{Step: 3})); err == nil {
		t.Fatal("a step that is not open was finished")
	}
	if now, _ := json.Marshal(b.History); string(now) != string(was) {
		t.Errorf("the history is\n%s, was\n%s", now, was)
	}
}

// TestBreachStopsTheState: what follows a breach is not believed, and only
// its repair may be written.
func TestBreachStopsTheState(t *testing.T) {
	b := newBook(t).own("r1").write(start, event.StepFinished{Step: 9}, one)
	if b.State.Step != nil {
		t.Error("an event behind a breach was applied")
	}
	if err := b.Extend(b.entry(one)); err == nil {
		t.Error("an operational event was written behind a breach")
	}
	if err := b.Extend(b.entry(event.StateDiverged{Source: event.SourceJournal})); err != nil {
		t.Errorf("STATE_DIVERGENCE behind a breach = %v", err)
	}
}

// TestFileOfTheBoard: the journal is about the file that the last valid handoff names.
func TestFileOfTheBoard(t *testing.T) {
	b := newBook(t)
	offer := func(epoch uint64, file string) {
		b.epoch = epoch
		b.write(event.HandoffOffered{Epoch: epoch, Owner: "r", File: file}, event.HandoffAcked{Epoch: epoch, Owner: "r"})
	}
	for _, tt := range []struct {
		epoch uint64
		file  string
		want  string
	}{{1, "kanban.md", "kanban.md"}, {2, "", "kanban.md"}, {3, "board.md", "board.md"}, {1, "stale.md", "board.md"}} {
		if offer(tt.epoch, tt.file); b.File != tt.want {
			t.Errorf("after the handoff of epoch %d the file is %q, want %q", tt.epoch, b.File, tt.want)
		}
	}
}

// TestFrozenByCustody: seed 002's STATE_FROZEN: a board of which the owner is in doubt stands
// still, also behind a breach, until the Lead's word.
func TestFrozenByCustody(t *testing.T) {
	for _, freeze := range []event.Event{event.HandoffMissing{Text: "why"}, event.SplitBrain{Text: "why"}, event.SnapshotNotFound{Text: "why"},
		event.SnapshotConflict{Text: "why"}, event.ReconcileConflict{Text: "why"}} {
		b := newBook(t).own("r1").write(start, freeze)
		if b.Breach != nil || b.Frozen() != "why" || b.State.Running {
			t.Errorf("%s: breach %v, frozen %q", freeze.Kind(), b.Breach, b.Frozen())
		}
		if b.write(event.Acknowledged{About: event.AboutJournal, Choice: event.Accept}); b.Frozen() != "" {
			t.Errorf("%s: frozen %q after the Lead's word", freeze.Kind(), b.Frozen())
		}
		b = newBook(t).own("r1").write(start, event.StepFinished{Step: 9}, freeze)
		if b.Breach == nil || b.Breach.Seq != 4 || b.Frozen() != "why" {
			t.Errorf("%s behind a breach: %v, frozen %q", freeze.Kind(), b.Breach, b.Frozen())
		}
	}
}
