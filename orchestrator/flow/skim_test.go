package flow_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/flow"
)

// skimmed is the history of a journal as a skim tells it; sure is false when only all records can.
func skimmed(entries []flow.Entry) (h flow.History, sure bool) {
	var s flow.Skim
	for _, e := range entries {
		if !s.Passes(e.Event.Kind(), e.Actor, e.Seq, e.Epoch, e.Rev) && !s.Add(e) {
			return h, false
		}
	}
	if h, sure = s.Sure(); !sure {
		return h, false
	}
	for _, e := range entries[h.Seq:] {
		h.Add(e)
	}
	return h, true
}

// compare holds a skim against the fold of all records.
func compare(t *testing.T, entries []flow.Entry) (sure bool) {
	t.Helper()
	var want flow.History
	for _, e := range entries {
		want.Add(e)
	}
	got, sure := skimmed(entries)
	if !sure {
		return false
	}
	if diff := cmp.Diff(want, got); diff != "" && !unseen(want.Breach) {
		t.Fatalf("of %d records, -all +skimmed:\n%s", len(entries), diff)
	}
	return true
}

// unseen says whether a breach is one that a skim does not see before a snapshot.
func unseen(b *flow.Breach) bool {
	return b != nil && (strings.Contains(b.Text, "cannot happen here") || strings.Contains(b.Text, "not what the records before it say") || strings.Contains(b.Text, "REPLY_ACCEPTED") && strings.Contains(b.Text, "to write"))
}

// author writes a journal at random: mostly as runs and people do, and now and then what nobody should have.
type author struct {
	*book
	r       *rand.Rand
	hostile bool
}

func (a *author) act() {
	open := a.State.Step
	switch n := a.r.IntN(24); {
	case a.epoch == 0 || n == 0:
		a.own(fmt.Sprint("r", len(a.entries))).write(limited(flow.Limits{MaxTaskCost: int64(a.r.IntN(2))}))
	case n == 1 && a.Custody.Locked == "":
		a.write(flow.StateDiverged{Source: flow.SourceState, Task: "b", Text: "d"}, flow.LockEntered{Board: "b", Reason: "r"})
	case n == 2 && a.Custody.Locked != "":
		a.write(flow.LockExited{Board: "b", Decision: flow.DecisionNoImpact})
	case n == 3 && len(a.Points) == 1:
		a.write(flow.Rebuild(a.Points[0], a.after()).Exit("b", flow.DecisionLead, "r", a.Points[0]))
	case n == 4:
		a.write(flow.StateDiverged{Source: flow.SourceBoard, Task: "t1", After: "x", Policy: []string{"", "freeze"}[a.r.IntN(2)], Text: "d"})
	case n == 5:
		a.write(flow.Acknowledged{Board: "b", BoardSHA: "y"})
	case n == 6:
		a.write([]flow.Event{flow.RunInterrupted{Board: "b"}, flow.RunFinished{Board: "b", Outcome: flow.LimitReached}}[a.r.IntN(2)], start)
	case n == 7:
		a.write(flow.HandoffOffered{Board: "b", Epoch: a.Custody.Epoch, Owner: a.Custody.Owner}, flow.HandoffDuplicate{Board: "b"})
	case n == 8 && a.hostile:
		a.break1()
	case n < 12:
		a.snapshot()
	case open != nil && n < 14:
		a.write(flow.StepAbandoned{Step: open.Number, Task: "t1"})
	case open != nil && open.Running != 0:
		a.write(flow.AttemptStopped{Step: open.Number, Call: open.Call, Task: "t1", Attempt: open.Running})
	case open != nil && open.Reply == nil:
		e := rejection(open.Number, open.Call, open.Started+1)
		e.Spent, e.Session = spending(int64(n)), fmt.Sprint("s", n)
		a.write(attempt(open.Number, open.Call, open.Started+1), e)
	case n < 16:
		a.write(flow.StepStarted{Step: a.State.LastStep + 1, Task: "t1", Role: "Implementor", BoardSHA: "a"})
	default:
		a.step(a.State.LastStep + 1)
	}
}

// break1 writes what breaks one rule.
func (a *author) break1() {
	e := a.entry(flow.StepStarted{Step: a.State.LastStep + 1, Task: "t1", Role: "Implementor"})
	s := a.Snapshot("b")
	switch a.r.IntN(8) {
	case 0:
		e.Epoch++
	case 1:
		e.Rev++
	case 2:
		e.Actor = "somebody"
	case 3:
		s.Version = 99
		e = a.entry(s)
	case 4:
		s.Hash = strings.Repeat("0", 64)
		e = a.entry(s)
	case 5:
		s.ReplayIndex--
		e = a.entry(s)
	case 6:
		e = a.entry(flow.SplitBrain{Board: "b", Text: "two"})
	case 7:
		e = a.entry(flow.BoardWritten{Step: 99})
	}
	a.put(e)
}

// TestSkimIsTheFold: a skim comes to the history that all records come to.
func TestSkimIsTheFold(t *testing.T) {
	for seed := range uint64(100) {
		a := &author{book: newBook(t), r: rand.New(rand.NewPCG(seed, 0)), hostile: seed%2 == 1}
		sound := true
		for range 60 {
			a.act()
			sound = sound && a.Breach == nil
			if sure := compare(t, a.entries); sound && !a.hostile && !sure {
				t.Fatalf("seed %d: %d records that keep all rules could not be skimmed", seed, len(a.entries))
			}
		}
	}
}

func FuzzSkim(f *testing.F) {
	f.Add(uint64(1), uint8(100), true)
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, hostile bool) {
		a := &author{book: newBook(t), r: rand.New(rand.NewPCG(seed, 0)), hostile: hostile}
		for range n {
			a.act()
		}
		compare(t, a.entries)
	})
}

// What a skim leaves out is what the work says, and nothing that it passed over changes what comes after the snapshot.
func TestSkimPassesOnlyWork(t *testing.T) {
	b := newBook(t).own("r1").write(start).snapshot().step(1).snapshot().step(2)
	passed := 0
	var s flow.Skim
	for _, e := range b.entries {
		if s.Passes(e.Event.Kind(), e.Actor, e.Seq, e.Epoch, e.Rev) {
			passed++
		} else if !s.Add(e) {
			t.Fatalf("record %d (%s) was not added", e.Seq, e.Event.Kind())
		}
	}
	if passed != 12 || s.Last() != 11 {
		t.Errorf("%d records passed up to the snapshot %d, want the 12 of two steps and 11", passed, s.Last())
	}
}
