package event

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/failure"
)

// TeardownState is where the end of a board's team stands: seed 002, "Teardown Readiness".
type TeardownState string

// The states.
const (
	TeardownInit      TeardownState = "TEARDOWN_INIT"
	ShutdownRequested TeardownState = "SHUTDOWN_REQUESTED"
	WaitingAcks       TeardownState = "WAITING_ACKS"
	Retrying          TeardownState = "RETRYING"
	ReadyToDelete     TeardownState = "READY_TO_DELETE"
	TeamDeleted       TeardownState = "TEAM_DELETED"
	FailedSafe        TeardownState = "TEARDOWN_FAILED_SAFE"
)

// TeardownMoved says that the end of a team has come to another state: seed
// 002, "Teardown Readiness".
type TeardownMoved struct {
	Board   string        `json:"board" text:"free"`
	To      TeardownState `json:"teardown_state"`
	Round   int           `json:"round,omitempty"` // with RETRYING, from 1
	Request string        `json:"request_id,omitempty"`
	Reason  string        `json:"reason,omitempty" text:"free"`
	Status  string        `json:"ack_status,omitempty"` // FORCED_FINALIZE_APPROVED
}

// Kind is the record's type in the journal.
func (TeardownMoved) Kind() string { return "TEARDOWN" }

// Subject is the board.
func (e TeardownMoved) Subject() string { return e.Board }

// Sentence is what a person reads of it.
func (e TeardownMoved) Sentence() Sentence {
	text := "teardown: " + string(e.To)
	switch {
	case e.Round > 0:
		text += fmt.Sprintf(" (round %d of %d)", e.Round, AckRetryRounds)
	case e.Status != "":
		text += " (ACK_STATUS=" + e.Status + ")"
	case e.Reason != "":
		text += ": " + e.Reason
	}
	s := say(Note, text)
	if e.To == Retrying {
		s = s.did("TEARDOWN_RETRY")
	}
	return s
}

// ForcedFinalizeCandidate names the members that have never answered. The Lead may
// approve the end without them.
type ForcedFinalizeCandidate struct {
	Board   string   `json:"board" text:"free"`
	Missing []string `json:"missing"`
}

// Kind is the record's type in the journal.
func (ForcedFinalizeCandidate) Kind() string { return "FORCED_FINALIZE_CANDIDATE" }

// Subject is the board.
func (e ForcedFinalizeCandidate) Subject() string { return e.Board }

// Sentence is what a person reads of it.
func (e ForcedFinalizeCandidate) Sentence() Sentence {
	return say(Critical, fmt.Sprintf("FORCED_FINALIZE_CANDIDATE: %s never answered (kanban-run ack %s forced-finalize goes on without)", strings.Join(e.Missing, ", "), failure.Quote(e.Board))).tell(Lead, AboutPerson).alert(AlertCritical, e.Kind(), "", escalate)
}

// TeardownBlocked says why the team is not to be deleted.
type TeardownBlocked struct {
	Board  string `json:"board" text:"free"`
	Reason string `json:"reason" text:"free"`
}

// Kind is the record's type in the journal.
func (TeardownBlocked) Kind() string { return "TEARDOWN_BLOCKED" }

// Subject is the board.
func (e TeardownBlocked) Subject() string { return e.Board }

// Sentence is what a person reads of it.
func (e TeardownBlocked) Sentence() Sentence {
	return say(Critical, "TEARDOWN_BLOCKED: "+e.Reason).tell(Lead, AboutPerson).alert(AlertCritical, e.Kind(), "", escalate)
}

// ForcedFinalizeAcked is the Lead's approval.
type ForcedFinalizeAcked struct {
	Board string `json:"board" text:"free"`
	Note  string `json:"note" text:"free"`
}

// Kind is the record's type in the journal.
func (ForcedFinalizeAcked) Kind() string { return "FORCED_FINALIZE_ACK" }

// Subject is the board.
func (e ForcedFinalizeAcked) Subject() string { return e.Board }

// Sentence is what a person reads of it.
func (e ForcedFinalizeAcked) Sentence() Sentence {
	return say(Note, "forced finalize approved by the Lead"+noteSuffix(e.Note)).did("FORCED_FINALIZE")
}

// AckRetryRounds is how often a member of the team that has not answered is asked again: seed 002,
// "Retry budget constants".
const AckRetryRounds = 3
