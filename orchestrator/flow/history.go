package flow

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

// History is the fold of a board's whole journal: the state of the work, the run that may write,
// and the first record that breaks the rules. After a [Breach] the state of the work stays as it
// was until a LockExited brings a rebuilt state.
type History struct {
	State   State
	Custody Custody
	Rev     uint64 // the last revision; the next record makes revision Rev+1
	Seq     uint64 // sequence number of the last record
	// Points are the verifiable snapshots with the greatest replay index. A single one is the
	// rollback point. Several are a conflict.
	Points []Snapshot
	Breach *Breach // the first record that breaks a rule and is not reconciled
	File   string  // the name of the board's file at the last handoff
	Before string  // SHA-256 of the board before its last divergence; "": there was none
	Newer  *Newer  // nil: this program may run the journal
}

// Identity identifies a snapshot. It is seed 002's snapshot identity tuple.
type Identity struct {
	Epoch       uint64 `json:"epoch"`
	ReplayIndex uint64 `json:"replay_index"`  // seq of the last record that the snapshot covers
	Hash        string `json:"snapshot_hash"` // SHA-256 of the state's JSON, in hex
}

// Snapshot is a place in a journal, with the state of the work at that place.
type Snapshot struct {
	Identity
	State State
	Owner string
}

// Add makes a record part of the history. It never fails: a broken rule becomes the Breach of h.
// After a record that only a later version may run, no rule counts as broken, because that version
// may have other rules.
func (h *History) Add(e event.Entry) {
	was, rev, locked := h.Breach, h.Rev, h.Custody.Locked != ""
	h.Seq, h.Rev = e.Seq, max(h.Rev, e.Rev)
	broken := h.Custody.admit(e)
	if offer, ok := e.Event.(event.HandoffOffered); ok && offer.File != "" && broken == nil {
		h.File = offer.File
	}
	if broken == nil && e.Rev != rev+1 {
		broken = breach(Conflict, e, "it makes revision %d, which follows no revision %d", e.Rev, rev)
	}
	if broken == nil && was == nil {
		broken = h.apply(e)
	}
	if sha, ok := event.BoardBefore(e.Event); ok {
		h.Before = sha
	}
	h.noteNewer(e)
	switch {
	case h.Newer != nil:
	case was == nil:
		h.Breach = broken
	case isFreeze(e.Event):
		_ = h.State.apply(e.Event) // cannot fail; Frozen has to show a freeze even after a breach
	}
	if exit, ok := e.Event.(event.LockExited); ok && locked {
		h.unlock(e, exit)
	}
}

// Extend adds a record that is about to be written. If the record would be the first breach, Extend
// returns a *TransitionError. After a breach it returns one if the record is not part of the
// repair. On an error the history stays as it was.
func (h *History) Extend(e event.Entry) error {
	if h.Breach != nil && !isRepair(e.Event) {
		return &TransitionError{Kind: e.Event.Kind(), Text: "the journal is to be reconciled first: " + h.Breach.Text}
	}
	next := *h
	next.Points = slices.Clip(h.Points) // so that next.Add leaves h.Points as it is
	next.Add(e)
	if h.Breach == nil && next.Breach != nil {
		return &TransitionError{Kind: e.Event.Kind(), Text: next.Breach.Text}
	}
	*h = next
	return nil
}

// isRepair reports whether an event is allowed after a breach. After a breach the next owner takes
// over the board and reconciles it, or a run records that it cannot own the board.
func isRepair(e event.Event) bool {
	switch e.(type) {
	case event.HandoffOffered, event.HandoffAcked, event.HandoffMissing, event.SplitBrain:
		return true
	default:
		return AllowedInLock(e)
	}
}

func isFreeze(e event.Event) bool {
	switch e.(type) {
	case event.HandoffMissing, event.SplitBrain,
		event.SnapshotNotFound, event.SnapshotConflict, event.ReconcileConflict:
		return true
	default:
		return false
	}
}

// Frozen returns why no run may go on, or "".
func (h *History) Frozen() string {
	switch {
	case h.State.Frozen != nil:
		return h.State.Frozen.Text
	default:
		return h.Custody.Locked
	}
}

// Freeze returns why the board waits for its Lead. It returns nil if the board does not wait, or if
// the records have to be reconciled first.
func (h *History) Freeze() *Freeze {
	if h.Custody.Locked != "" || h.Contradiction() != "" {
		return nil
	}
	return h.State.Frozen
}

// StandstillOutcome returns the outcome of a run that stops at [History.Standstill].
func (h *History) StandstillOutcome() event.Outcome {
	if f := h.Freeze(); f != nil {
		return f.Outcome()
	}
	return event.Frozen
}

// Contradiction returns why the next run has to reconcile the records, or "".
func (h *History) Contradiction() string {
	switch {
	case h.Breach != nil:
		return fmt.Sprintf("%s: %s", h.Breach.Kind, h.Breach.Text)
	case len(h.Points) > 1:
		return h.conflict("").Text
	default:
		return ""
	}
}

// conflict returns the event that reports several rollback points.
func (h *History) conflict(board string) event.SnapshotConflict {
	e := event.SnapshotConflict{Board: board, ReplayIndex: h.Points[0].ReplayIndex}
	for _, p := range h.Points {
		e.Hashes = append(e.Hashes, p.Hash)
	}
	e.Text = fmt.Sprintf("%d snapshots claim to be the state at record %d",
		len(h.Points), e.ReplayIndex)
	return e
}

// RollbackPoint returns the snapshot to roll back to. If there is no snapshot or more than one, it
// returns the event that reports this (seed 002, "Deterministic reconcile procedure", steps 4 and
// 5). The text of SnapshotNotFound ends with the given reason.
func (h *History) RollbackPoint(board, reason string) (Snapshot, event.Event) {
	switch len(h.Points) {
	case 0:
		text := "there is no verifiable snapshot to roll back to, after " + reason
		return Snapshot{}, event.SnapshotNotFound{Board: board, Text: text}
	case 1:
		return h.Points[0], nil
	default:
		return Snapshot{}, h.conflict(board)
	}
}

// Standstill returns what stops a run of the board before it starts anything, or "".
func (h *History) Standstill() string { return cmp.Or(h.Frozen(), h.Contradiction()) }

func (h *History) apply(e event.Entry) *Breach {
	if s, ok := e.Event.(event.SnapshotTaken); ok {
		return h.verify(e, s)
	}
	if err := h.State.Apply(e.Event); err != nil {
		return breach(Conflict, e, "%v", err)
	}
	return nil
}

// verify makes a snapshot a candidate for the rollback point, or returns a Breach if the snapshot
// does not meet the criteria of seed 002's "last verifiable operational snapshot". verify is called
// only without a breach, so all records before the snapshot were admitted and applied.
func (h *History) verify(e event.Entry, s event.SnapshotTaken) *Breach {
	state, err := decodeState(s.State, s.Hash)
	fresh := s.ReplayIndex == e.Seq-1
	if err == nil && fresh && s.Rules != rules {
		state = h.State
	}
	switch {
	case err != nil:
		return breach(Conflict, e, "%v", err)
	case s.Epoch != h.Custody.Epoch || s.ReplayIndex >= e.Seq:
		return breach(Conflict, e, "a snapshot of epoch %d and record %d cannot stand here", s.Epoch, s.ReplayIndex)
	case fresh && s.Rules == rules && s.Hash != hashOf(encodeState(h.State)):
		return breach(Conflict, e, "the snapshot is not what the records before it say")
	}
	h.consider(Snapshot{
		Identity: Identity{s.Epoch, s.ReplayIndex, s.Hash},
		State:    state,
		Owner:    h.Custody.Owner,
	}, e.Seq)
	return nil
}

// consider keeps the snapshots with the greatest replay index. A snapshot that covers all earlier
// records replaces the kept snapshots if its replay index is greater. verify has compared such a
// snapshot with the state. A snapshot is kept as a rival if it has the same replay index as the
// kept snapshots, but another hash or epoch. Any other snapshot is dropped.
func (h *History) consider(s Snapshot, seq uint64) {
	kept := uint64(0)
	if len(h.Points) > 0 {
		kept = h.Points[0].ReplayIndex
	}
	same := func(p Snapshot) bool { return p.Hash == s.Hash && p.Epoch == s.Epoch }
	switch {
	case s.ReplayIndex == seq-1 && (len(h.Points) == 0 || s.ReplayIndex > kept):
		h.Points = []Snapshot{s}
	case s.ReplayIndex == kept && len(h.Points) > 0 && !slices.ContainsFunc(h.Points, same):
		h.Points = append(h.Points, s)
	}
}

func (h *History) unlock(e event.Entry, exit event.LockExited) {
	if exit.State == nil {
		return
	}
	state, err := decodeState(exit.State, hashOf(exit.State))
	if err != nil {
		if h.Breach == nil {
			h.Breach = breach(Conflict, e, "the rebuilt state cannot be read")
		}
		return
	}
	h.State, h.Breach = state, nil
	h.Points = []Snapshot{{
		Identity: Identity{h.Custody.Epoch, e.Seq, hashOf(exit.State)},
		State:    state,
		Owner:    h.Custody.Owner,
	}}
}

// Snapshot returns the event that keeps the present state of the work.
func (h *History) Snapshot(board string) event.SnapshotTaken {
	state := encodeState(h.State)
	return event.SnapshotTaken{
		Board: board, Epoch: h.Custody.Epoch, ReplayIndex: h.Seq, Hash: hashOf(state), State: state, Rules: rules,
	}
}

func encodeState(s State) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("encode the state: %v", err)) // cannot happen: each field has a JSON form
	}
	return data
}

// decodeState reads a state that this or another version of the program wrote. It ignores fields
// that it does not know.
func decodeState(data json.RawMessage, hash string) (State, error) {
	var s State
	if got := hashOf(data); got != hash {
		return s, fmt.Errorf("the state's hash is %s, not %s", got, hash)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("decode the state: %w", err)
	}
	return s, nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// NotReady returns why the team of a board cannot be deleted even after all its members have shut
// down, or "" if it can be deleted (seed 002, "Forced-finalize preconditions"). terminal is true if
// the board is over.
func (h *History) NotReady(terminal bool) string {
	switch {
	case h.Standstill() != "":
		return h.Standstill()
	case h.State.Step != nil:
		return fmt.Sprintf("step %d is open", h.State.Step.Number)
	case !terminal:
		return "the board has tasks to do"
	default:
		return ""
	}
}
