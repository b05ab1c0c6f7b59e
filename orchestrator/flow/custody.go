package flow

import (
	"cmp"
	"fmt"

	"kanban-run/orchestrator/event"
)

// Custody is the ownership of a board's operational state. The owner is the only run that may write
// this state. Custody is the fold of seed 002's "Lead -> Supervisor handoff contract". In that
// contract the Lead is the person that starts a run, and the Supervisor is the run. An epoch is one
// run's ownership.
type Custody struct {
	Epoch uint64 // the epoch of the active owner; 0: the board was never owned
	Owner string // the active owner's name, which no other run has

	Offered   uint64 // the epoch of a handoff that is not acknowledged yet; 0: none
	OfferedTo string
	Offers    int // number of handoffs that repeat the active one and are not reported yet

	Locked string // why RECONCILE_LOCK is on; "": it is off
}

// Breach is a record that breaks a rule. Later records do not count until the next reconciliation.
type Breach struct {
	Kind BreachKind
	Seq  uint64
	Task string
	Text string
}

// BreachKind is a broken rule, named after the kind of event that reports it.
type BreachKind string

const (
	NoHandoff BreachKind = "HANDOFF_MISSING"
	TwoOwners BreachKind = "SPLIT_BRAIN_DETECTED"
	Conflict  BreachKind = "STATE_DIVERGENCE" // a breach of any other rule
)

func breach(kind BreachKind, e event.Entry, format string, args ...any) *Breach {
	text := fmt.Sprintf("record %d (%s): %s", e.Seq, e.Event.Kind(), fmt.Sprintf(format, args...))
	return &Breach{Kind: kind, Seq: e.Seq, Task: e.Event.Subject(), Text: text}
}

// admit makes e part of the custody. If the author of e is not allowed to write e now, it returns a
// Breach. The numbers of rules in the functions below are those of seed 002.
func (c *Custody) admit(e event.Entry) *Breach {
	if want := event.Actor(e.Event); e.Actor != want {
		return breach(Conflict, e, "it is %s's to write, not %q's", want, e.Actor)
	}
	switch event := e.Event.(type) {
	case event.HandoffOffered:
		return c.offer(e, event)
	case event.HandoffAcked:
		return c.acknowledge(e, event)
	case event.HandoffDuplicate:
		c.Offers = 0
		return c.operational(e)
	case event.LockEntered:
		c.Locked = event.Reason
	case event.LockExited:
		if c.Locked == "" {
			return breach(Conflict, e, "RECONCILE_LOCK is not on")
		}
		c.Locked = ""
	case event.HandoffMissing, event.SplitBrain, event.Acknowledged:
		// The first two are written by a run that is not the owner, the third by the Lead.
	default:
		return c.operational(e)
	}
	return nil
}

func (c *Custody) offer(e event.Entry, h event.HandoffOffered) *Breach {
	repeats := h.Epoch == c.Epoch && h.Owner == c.Owner
	taken := h.Epoch == c.Epoch || h.Epoch == c.Offered && h.Owner != c.OfferedTo
	switch {
	case h.Epoch != e.Epoch:
		return breach(Conflict, e, "a handoff of epoch %d in epoch %d", h.Epoch, e.Epoch)
	case c.Locked != "":
		return breach(Conflict, e, "no handoff is valid in RECONCILE_LOCK")
	case repeats: // seed 002, rule 9: an idempotent no-op
		c.Offers++
	case taken: // seed 002, rule 11
		return breach(TwoOwners, e, "%s and %s both own epoch %d", c.owner(h.Epoch), h.Owner, h.Epoch)
	case h.Epoch < c.Epoch: // seed 002, rules 3 and 8
		return breach(Conflict, e, "epoch %d is stale, epoch %d is active", h.Epoch, c.Epoch)
	default: // seed 002, rule 2
		c.Offered, c.OfferedTo = h.Epoch, h.Owner
	}
	return nil
}

func (c *Custody) owner(epoch uint64) string {
	if epoch == c.Epoch {
		return c.Owner
	}
	return c.OfferedTo
}

// acknowledge activates an owner. Seed 002, rule 4: "active only after STATE_OWNERSHIP_ACK(epoch)".
func (c *Custody) acknowledge(e event.Entry, a event.HandoffAcked) *Breach {
	if c.Offered == 0 || a.Epoch != c.Offered || a.Owner != c.OfferedTo || a.Epoch != e.Epoch {
		return breach(NoHandoff, e, "epoch %d was not handed over to %s", a.Epoch, a.Owner)
	}
	c.Epoch, c.Owner, c.Offered, c.OfferedTo = a.Epoch, a.Owner, 0, ""
	return nil
}

// operational admits a record that only the owner may write. Seed 002, rule 5: "no operational
// writes are valid before ACK activation". Rule 11: "block all operational writes except reconcile
// lifecycle/audit events".
func (c *Custody) operational(e event.Entry) *Breach {
	switch {
	case (e.Epoch != c.Epoch || e.Epoch == 0) && (c.Locked == "" || !AllowedInLock(e.Event)):
		return breach(NoHandoff, e,
			"its writer does not own the board: epoch %d was never handed over, epoch %d is active", e.Epoch, c.Epoch)
	case c.Locked != "" && !AllowedInLock(e.Event):
		return breach(Conflict, e, "an operational write in RECONCILE_LOCK")
	default:
		return nil
	}
}

// AllowedInLock reports whether an event may be written in RECONCILE_LOCK (seed 002, "Deterministic
// reconcile procedure", step 3). The Lead's acknowledgement, for which the lock waits, is not an
// operational write.
func AllowedInLock(e event.Event) bool {
	switch e.(type) {
	case event.StateDiverged, event.SnapshotNotFound, event.SnapshotConflict, event.ReconcileConflict,
		event.LockEntered, event.LockExited, event.Acknowledged:
		return true
	default:
		return false
	}
}

func (s *State) applyStateDiverged(e event.StateDiverged) error {
	if s.Step != nil && e.Source == event.SourceBoard {
		s.Step.BoardSHA = e.After
		if e.Policy == event.PolicyRestore {
			s.Step.Left = e.After
		}
	}
	if e.Policy == event.PolicyFreeze || e.Policy == event.PolicyAsk {
		s.Frozen = &Freeze{Text: e.Text, Asks: e.Policy == event.PolicyAsk, By: e.By}
	}
	s.Marks = cmp.Or(e.Marks, s.Marks)
	return nil
}

func (s *State) applyHandoffMissing(e event.HandoffMissing) error { return s.freeze(e.Text) }

func (s *State) applySplitBrain(e event.SplitBrain) error { return s.freeze(e.Text) }

func (s *State) applySnapshotNotFound(e event.SnapshotNotFound) error { return s.freeze(e.Text) }

func (s *State) applySnapshotConflict(e event.SnapshotConflict) error { return s.freeze(e.Text) }

func (s *State) applyReconcileConflict(e event.ReconcileConflict) error { return s.freeze(e.Text) }

// freeze enters seed 002's STATE_FROZEN.
func (s *State) freeze(text string) error {
	s.Frozen, s.Running = &Freeze{Text: text}, false
	return nil
}

// endFrozen ends a run on a board that waits for its Lead, or returns nil.
func (s *State) endFrozen(Board) Effect {
	if s.Frozen == nil {
		return nil
	}
	return Finish{Outcome: s.Frozen.Outcome(), Text: s.Frozen.Text}
}

// thaw ends a freeze, if the choice answers the question of the freeze. The board then goes on from
// its file, or its checkpoints in git take the new route.
func (s *State) thaw(e event.Acknowledged) error {
	f := s.Frozen
	switch {
	case f == nil:
		return refuse(e, "the board is not frozen")
	case f.Git != nil && e.Choice != event.Accept, f.Asks && e.Choice != event.Accept && e.Choice != event.Retry:
		return nil
	case f.Git != nil:
		s.Git, s.Frozen = f.Git, nil
		s.endAsDecided(event.Interrupted, e.Text)
		return nil
	}
	s.goOn(e)
	s.change(e.Dropped, nil)
	if e.Choice == event.Accept {
		s.Marks = "" // those count that the headers bear
	}
	if e.Left != "" {
		s.endAsLeft(e)
	}
	return nil
}

// endAsLeft ends the open step of a frozen board that the Lead lets stand, because the board has
// ended. The board's end counts as the Manager's: a person decided about the disagreement, and not
// about the open tasks.
func (s *State) endAsLeft(e event.Acknowledged) {
	if step := s.Step; step != nil {
		*s = s.afterStep()
		s.Step, s.Last.Task = nil, step.Task
	}
	s.Last = ManagerReply{Task: s.Last.Task, BoardSHA: e.BoardSHA}
	s.endAsDecided(event.Incomplete, e.Left)
}
