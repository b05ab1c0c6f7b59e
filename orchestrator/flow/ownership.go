package flow

import "encoding/json"

// The events of ownership, snapshots and reconciliation, named as in seed 002, about the board.

// HandoffOffered gives a board to a run (seed 002, "STATE_OWNERSHIP_HANDOFF"). The Lead, which
// starts the run, offers it.
type HandoffOffered struct {
	Board         string `json:"board" text:"free"`
	File          string `json:"file"` // the name of the board's file, which the journal is about
	Epoch         uint64 `json:"epoch"`
	Owner         string `json:"owner"` // the run's name, which no other run has
	PreviousEpoch uint64 `json:"previous_epoch"`
	Previous      string `json:"previous_owner,omitempty"`
}

// HandoffAcked makes the run the owner (seed 002, "STATE_OWNERSHIP_ACK").
type HandoffAcked struct {
	Board string `json:"board" text:"free"`
	Epoch uint64 `json:"epoch"`
	Owner string `json:"owner"`
}

// HandoffDuplicate reports handoffs that repeated an active one and changed nothing (rule 9).
type HandoffDuplicate struct {
	Board string `json:"board" text:"free"`
	Epoch uint64 `json:"epoch"`
	Owner string `json:"owner"`
	Count int    `json:"count"`
}

// HandoffMissing says that a run wrote which was never made the owner (rule 10). The previous owner
// stays, and the board is frozen.
type HandoffMissing struct {
	Board string `json:"board" text:"free"`
	Epoch uint64 `json:"epoch"` // of the owner that stays
	Text  string `json:"text" text:"free"`
}

// SplitBrain says that more than one run took the board for its own (rule 11). The board is frozen.
type SplitBrain struct {
	Board  string   `json:"board" text:"free"`
	Owners []string `json:"owners"`
	Text   string   `json:"text" text:"free"`
}

// SnapshotTaken is a state that a reconcile may roll back to: seed 002, "snapshot identity tuple".
type SnapshotTaken struct {
	Board       string          `json:"board" text:"free"`
	Epoch       uint64          `json:"epoch"`
	ReplayIndex uint64          `json:"replay_index"`  // seq of the last record that is in it
	Hash        string          `json:"snapshot_hash"` // SHA-256 of State, in hex
	State       json.RawMessage `json:"state"`
}

// SnapshotNotFound says that there is nothing to roll back to. The board is frozen.
type SnapshotNotFound struct {
	Board string `json:"board" text:"free"`
	Text  string `json:"text" text:"free"`
}

// SnapshotConflict says that there are several states to roll back to with the same replay index.
// The board is frozen.
type SnapshotConflict struct {
	Board       string   `json:"board" text:"free"`
	ReplayIndex uint64   `json:"replay_index"`
	Hashes      []string `json:"snapshot_hashes"`
	Text        string   `json:"text" text:"free"`
}

// LockEntered turns RECONCILE_LOCK on.
type LockEntered struct {
	Board  string `json:"board" text:"free"`
	Reason string `json:"reason" text:"free"`
}

// LockExited turns RECONCILE_LOCK off. It is the entry of the rollback trail: what was rolled back
// to, why, and which tasks that affects. State replaces the state of the work when records were
// passed over; it is absent when there was no impact.
type LockExited struct {
	Board       string          `json:"board" text:"free"`
	Reason      string          `json:"reason" text:"free"`
	Decision    string          `json:"decision"` // one of the Decision constants
	Epoch       uint64          `json:"epoch"`    // of the rollback point, as are the next two
	ReplayIndex uint64          `json:"replay_index"`
	Hash        string          `json:"snapshot_hash,omitempty"`
	Affected    []string        `json:"affected_tasks"`
	Findings    []string        `json:"findings" text:"free"`
	State       json.RawMessage `json:"state,omitempty"`
}

// Why a RECONCILE_LOCK ended: seed 002, "Deterministic reconcile procedure", step 11.
const (
	DecisionNoImpact = "no impact"
	DecisionLead     = "Lead ACK"
)

// ReconcileConflict says that a replay of the records does not go through. The board is frozen.
type ReconcileConflict struct {
	Board    string   `json:"board" text:"free"`
	Findings []string `json:"findings" text:"free"`
	Text     string   `json:"text" text:"free"`
}

func (HandoffOffered) Kind() string    { return "STATE_OWNERSHIP_HANDOFF" }
func (HandoffAcked) Kind() string      { return "STATE_OWNERSHIP_ACK" }
func (HandoffDuplicate) Kind() string  { return "HANDOFF_DUPLICATE" }
func (HandoffMissing) Kind() string    { return "HANDOFF_MISSING" }
func (SplitBrain) Kind() string        { return "SPLIT_BRAIN_DETECTED" }
func (SnapshotTaken) Kind() string     { return "SNAPSHOT_TAKEN" }
func (SnapshotNotFound) Kind() string  { return "SNAPSHOT_NOT_FOUND" }
func (SnapshotConflict) Kind() string  { return "SNAPSHOT_CONFLICT" }
func (LockEntered) Kind() string       { return "RECONCILE_LOCK_ENTER" }
func (LockExited) Kind() string        { return "RECONCILE_LOCK_EXIT" }
func (ReconcileConflict) Kind() string { return "RECONCILE_CONFLICT" }

func (e HandoffOffered) Subject() string    { return e.Board }
func (e HandoffAcked) Subject() string      { return e.Board }
func (e HandoffDuplicate) Subject() string  { return e.Board }
func (e HandoffMissing) Subject() string    { return e.Board }
func (e SplitBrain) Subject() string        { return e.Board }
func (e SnapshotTaken) Subject() string     { return e.Board }
func (e SnapshotNotFound) Subject() string  { return e.Board }
func (e SnapshotConflict) Subject() string  { return e.Board }
func (e LockEntered) Subject() string       { return e.Board }
func (e LockExited) Subject() string        { return e.Board }
func (e ReconcileConflict) Subject() string { return e.Board }

// Ownership and snapshots say nothing about the work itself.

func (HandoffOffered) apply(*State) error   { return nil }
func (HandoffAcked) apply(*State) error     { return nil }
func (HandoffDuplicate) apply(*State) error { return nil }
func (SnapshotTaken) apply(*State) error    { return nil }
func (LockEntered) apply(*State) error      { return nil }
func (LockExited) apply(*State) error       { return nil }

func (e HandoffMissing) apply(s *State) error    { return s.freeze(e.Text) }
func (e SplitBrain) apply(s *State) error        { return s.freeze(e.Text) }
func (e SnapshotNotFound) apply(s *State) error  { return s.freeze(e.Text) }
func (e SnapshotConflict) apply(s *State) error  { return s.freeze(e.Text) }
func (e ReconcileConflict) apply(s *State) error { return s.freeze(e.Text) }

// freeze is seed 002's STATE_FROZEN.
func (s *State) freeze(text string) error {
	s.Frozen, s.Running = &Freeze{Text: text}, false
	return nil
}
