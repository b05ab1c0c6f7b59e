package event

import (
	"encoding/json"
	"fmt"
)

// The authors of records, if they are not agents. The Lead is the person that starts runs and
// acknowledges their ends. The author of an agent's reply is the agent's role.
const (
	ActorRun  = "kanban-run"
	ActorLead = "Lead"
)

// Actor returns the author of an event (seed 002: a record without an actor is rejected).
func Actor(e Event) string {
	switch e := e.(type) {
	case ReplyAccepted:
		return e.Role
	case ManagerWalked:
		return ManagerRole
	case CheckpointHeld:
		return e.Role
	case Acknowledged, HandoffOffered:
		return ActorLead
	case ConsentGiven:
		if e.ID != "" {
			return ActorLead
		}
		return ActorRun
	case Unknown:
		return e.Writer
	default:
		return ActorRun
	}
}

// StateDiverged is a change of state that does not come from the owner of the state (seed 002, "If
// external mutation is detected", step 1). The changed state is state.md, the journal, or the board
// outside of a Manager's call.
type StateDiverged struct {
	Source string `json:"source" text:"fact"` // what was changed, one of the Source constants
	Step   int    `json:"step,omitempty"`
	Task   string `json:"task"` // task of the open step; if no step is open, the board
	Before string `json:"before_sha256,omitempty" text:"fact"`
	After  string `json:"after_sha256,omitempty" text:"fact"`
	Policy string `json:"policy,omitempty" text:"fact"`       // treatment of the change, one of the Policy constants
	By     By     `json:"by,omitempty"`                       // what a person is asked about, if it is no unknown end
	Marks  string `json:"marks_sha256,omitempty" text:"fact"` // SHA-256 of the marks of tasks before the change, if they may be put back; "": as before the last attempt
	Text   string `json:"text"`
}

func (StateDiverged) Kind() string { return "STATE_DIVERGENCE" }

func (e StateDiverged) Subject() string { return e.Task }

func (e StateDiverged) Sentence() Sentence {
	switch {
	case e.Policy == PolicyOwn:
		return inStep(e.Step, Routine, "%s", e.Text)
	// In this case Text already names what follows from the divergence.
	case e.Source != SourceBoard, e.Before == e.After, e.Policy == PolicyRestore, e.Policy == PolicyAsk:
		return inStep(e.Step, Warning, "%s", e.Text).tell(Team, "").alert(AlertWarning, e.Kind(), "")
	case e.Policy == PolicyFreeze:
		return inStep(e.Step, Warning, "%s; the board is frozen", e.Text).
			tell(Team, "").alert(AlertWarning, e.Kind(), "")
	default:
		return inStep(e.Step, Warning, "%s; the file stands", e.Text).tell(Team, "").alert(AlertWarning, e.Kind(), "")
	}
}

// BoardBefore returns the SHA-256 of the board before it, or the marks of its tasks, was changed. ok is
// false for an event about something else.
func BoardBefore(e Event) (sha string, ok bool) {
	d, ok := e.(StateDiverged)
	return d.Before, ok && (d.Source == SourceBoard || d.Source == SourceTasks)
}

// The policies for a board that was changed outside of a Manager's call.
const (
	PolicyAccept  = "accept"  // the changed file stays as it is
	PolicyRestore = "restore" // the board's end is put back as it was; an unreadable board is replaced
	PolicyOwn     = "own"     // the changed file stays: it marks a task as done whose work replied ok
	PolicyFreeze  = "freeze"  // the board is frozen until the Lead has decided
	PolicyAsk     = "ask"     // the board is frozen, because it is unknown who changed its end
)

// The sources of a STATE_DIVERGENCE, which are the files that were changed.
const (
	SourceBoard   = "board"
	SourceTasks   = "tasks" // marks in the headers of tasks
	SourceState   = "state.md"
	SourceJournal = "journal"
)

// HandoffOffered gives a board to a run (seed 002, "STATE_OWNERSHIP_HANDOFF"). The offer is the
// Lead's, because the Lead starts the run.
type HandoffOffered struct {
	Board         string `json:"board"`
	File          string `json:"file" text:"name"` // name of the board's file
	Epoch         uint64 `json:"epoch"`
	Owner         string `json:"owner" text:"fact"` // unique name of the run
	PreviousEpoch uint64 `json:"previous_epoch"`
	Previous      string `json:"previous_owner,omitempty" text:"fact"`
}

func (HandoffOffered) Kind() string { return "STATE_OWNERSHIP_HANDOFF" }

func (e HandoffOffered) Subject() string { return e.Board }

func (e HandoffOffered) Sentence() Sentence {
	return traceOf(e)
}

// HandoffAcked makes the run the owner (seed 002, "STATE_OWNERSHIP_ACK").
type HandoffAcked struct {
	Board string `json:"board"`
	Epoch uint64 `json:"epoch"`
	Owner string `json:"owner" text:"fact"`
}

func (HandoffAcked) Kind() string { return "STATE_OWNERSHIP_ACK" }

func (e HandoffAcked) Subject() string { return e.Board }

func (e HandoffAcked) Sentence() Sentence {
	return traceOf(e)
}

// HandoffDuplicate reports handoffs that repeated the active handoff and changed nothing (seed 002,
// rule 9).
type HandoffDuplicate struct {
	Board string `json:"board"`
	Epoch uint64 `json:"epoch"`
	Owner string `json:"owner" text:"fact"`
	Count int    `json:"count"`
}

func (HandoffDuplicate) Kind() string { return "HANDOFF_DUPLICATE" }

func (e HandoffDuplicate) Subject() string { return e.Board }

func (e HandoffDuplicate) Sentence() Sentence {
	text := fmt.Sprintf("epoch %d was handed over again to %s, which changed nothing",
		e.Epoch, e.Owner)
	return say(Warning, text).alert(AlertInfo, e.Kind(), "")
}

// HandoffMissing is a write by a run that was never made the owner (seed 002, rule 10). The
// previous owner remains the owner, and the board is frozen.
type HandoffMissing struct {
	Board string `json:"board"`
	Epoch uint64 `json:"epoch"` // epoch of the previous owner
	Text  string `json:"text"`
}

func (HandoffMissing) Kind() string { return "HANDOFF_MISSING" }

func (e HandoffMissing) Subject() string { return e.Board }

func (e HandoffMissing) Sentence() Sentence {
	return say(Critical, e.Text).alert(AlertWarning, e.Kind(), "")
}

// SplitBrain is a board that more than one run claims to own (seed 002, rule 11). The board is
// frozen.
type SplitBrain struct {
	Board  string   `json:"board"`
	Owners []string `json:"owners" text:"fact"`
	Text   string   `json:"text"`
}

func (SplitBrain) Kind() string { return "SPLIT_BRAIN_DETECTED" }

func (e SplitBrain) Subject() string { return e.Board }

func (e SplitBrain) Sentence() Sentence {
	return say(Critical, e.Text).tell(Lead, AboutPerson).alert(AlertCritical, e.Kind(), "", escalate)
}

// SnapshotTaken is a state that a reconcile can roll back to: seed 002, "snapshot identity tuple".
type SnapshotTaken struct {
	Board       string `json:"board"`
	Epoch       uint64 `json:"epoch"`
	ReplayIndex uint64 `json:"replay_index"`              // number of the last record before State
	Hash        string `json:"snapshot_hash" text:"fact"` // SHA-256 of State, in hex
	// Rules is the version of the rules that led to State; 0: it has no number. A program with
	// other rules does not compare State with its own.
	Rules int             `json:"rules,omitempty"`
	State json.RawMessage `json:"state" text:"fact"`
}

func (SnapshotTaken) Kind() string { return "SNAPSHOT_TAKEN" }

func (e SnapshotTaken) Subject() string { return e.Board }

func (e SnapshotTaken) Sentence() Sentence {
	return traceOf(e)
}

// SnapshotNotFound reports that a reconcile found no state to roll back to. The board is frozen.
type SnapshotNotFound struct {
	Board string `json:"board"`
	Text  string `json:"text"`
}

func (SnapshotNotFound) Kind() string { return "SNAPSHOT_NOT_FOUND" }

func (e SnapshotNotFound) Subject() string { return e.Board }

func (e SnapshotNotFound) Sentence() Sentence {
	return say(Critical, e.Text).alert(AlertCritical, e.Kind(), "", escalate)
}

// SnapshotConflict reports that a reconcile found several states to roll back to, all with the same
// replay index. The board is frozen.
type SnapshotConflict struct {
	Board       string   `json:"board"`
	ReplayIndex uint64   `json:"replay_index"`
	Hashes      []string `json:"snapshot_hashes" text:"fact"`
	Text        string   `json:"text"`
}

func (SnapshotConflict) Kind() string { return "SNAPSHOT_CONFLICT" }

func (e SnapshotConflict) Subject() string { return e.Board }

func (e SnapshotConflict) Sentence() Sentence {
	return say(Critical, e.Text).alert(AlertCritical, e.Kind(), "", escalate)
}

// LockEntered turns RECONCILE_LOCK on.
type LockEntered struct {
	Board  string `json:"board"`
	Reason string `json:"reason"`
}

func (LockEntered) Kind() string { return "RECONCILE_LOCK_ENTER" }

func (e LockEntered) Subject() string { return e.Board }

func (e LockEntered) Sentence() Sentence {
	return traceOf(e).alert(AlertInfo, e.Kind(), "", e.Kind())
}

// LockExited turns RECONCILE_LOCK off. The event is the entry in the rollback trail: Epoch,
// ReplayIndex and Hash name the state to which the run rolled back. State is the new state of the
// work; State is nil after DecisionNoImpact.
type LockExited struct {
	Board       string          `json:"board"`
	Reason      string          `json:"reason"`
	Decision    string          `json:"decision"` // one of the Decision constants
	Epoch       uint64          `json:"epoch"`
	ReplayIndex uint64          `json:"replay_index"`
	Hash        string          `json:"snapshot_hash,omitempty" text:"fact"`
	Affected    []string        `json:"affected_tasks"`
	Findings    []string        `json:"findings"`
	State       json.RawMessage `json:"state,omitempty" text:"fact"`
}

func (LockExited) Kind() string { return "RECONCILE_LOCK_EXIT" }

func (e LockExited) Subject() string { return e.Board }

func (e LockExited) Sentence() Sentence {
	text := fmt.Sprintf("reconciled with the state at record %d: %s", e.ReplayIndex, e.Decision)
	return say(Note, text).alert(AlertInfo, e.Kind(), "", e.Kind())
}

// ReconcileConflict reports that a replay of the records failed. The board is frozen.
type ReconcileConflict struct {
	Board    string   `json:"board"`
	Findings []string `json:"findings"`
	Text     string   `json:"text"`
}

func (ReconcileConflict) Kind() string { return "RECONCILE_CONFLICT" }

func (e ReconcileConflict) Subject() string { return e.Board }

func (e ReconcileConflict) Sentence() Sentence {
	return say(Critical, e.Text).alert(AlertCritical, e.Kind(), "", escalate)
}

// The decisions that end a RECONCILE_LOCK: seed 002, "Deterministic reconcile procedure", step 11.
const (
	DecisionNoImpact = "no impact"
	DecisionLead     = "Lead ACK"
)
