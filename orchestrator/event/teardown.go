package event

import (
	"fmt"
	"strings"

	"kanban-run/orchestrator/failure"
)

// TeardownState is a state of the teardown of a board's team: seed 002, "Teardown Readiness".
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

// TeardownMoved is the change of a team's teardown to another state: seed 002, "Teardown
// Readiness".
type TeardownMoved struct {
	Board   string        `json:"board"`
	To      TeardownState `json:"teardown_state"`
	Round   int           `json:"round,omitempty"` // number of the RETRYING round, from 1
	Request string        `json:"request_id,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Status  string        `json:"ack_status,omitempty"` // FORCED_FINALIZE_APPROVED or ""
}

func (TeardownMoved) Kind() string { return "TEARDOWN" }

// Subject returns the board.
func (e TeardownMoved) Subject() string { return e.Board }

func (e TeardownMoved) Sentence() Sentence {
	text := "teardown: " + map[TeardownState]string{
		TeardownInit: "it begins", ShutdownRequested: "the team is asked to shut down", WaitingAcks: "waits for its answers",
		Retrying: "asks again", ReadyToDelete: "the team may be deleted", TeamDeleted: "the team is deleted", FailedSafe: "the team stays",
	}[e.To]
	switch {
	case e.Round > 0:
		text += fmt.Sprintf(" (round %d of %d)", e.Round, AckRetryRounds)
	case e.Status != "":
		text += ", as you decided"
	case e.Reason != "":
		text += ": " + e.Reason
	}
	s := say(Note, text)
	if e.To == Retrying {
		s = s.did("TEARDOWN_RETRY")
	}
	return s
}

// ForcedFinalizeCandidate names the members that never answered the request to shut down. The Lead
// may approve the end of the team without them.
type ForcedFinalizeCandidate struct {
	Board   string   `json:"board"`
	Missing []string `json:"missing"`
}

func (ForcedFinalizeCandidate) Kind() string { return "FORCED_FINALIZE_CANDIDATE" }

// Subject returns the board.
func (e ForcedFinalizeCandidate) Subject() string { return e.Board }

func (e ForcedFinalizeCandidate) Sentence() Sentence {
	text := fmt.Sprintf(
		"%s never answered (kanban-run ack %s accept goes on without)",
		strings.Join(e.Missing, ", "), failure.Quote(e.Board))
	return say(Critical, text).tell(Lead, AboutPerson).alert(AlertCritical, e.Kind(), "", escalate)
}

// TeardownBlocked is the refusal to delete the team, with its reason.
type TeardownBlocked struct {
	Board  string `json:"board"`
	Reason string `json:"reason"`
}

func (TeardownBlocked) Kind() string { return "TEARDOWN_BLOCKED" }

// Subject returns the board.
func (e TeardownBlocked) Subject() string { return e.Board }

func (e TeardownBlocked) Sentence() Sentence {
	return say(Critical, "the team is not deleted: "+e.Reason).
		tell(Lead, AboutPerson).alert(AlertCritical, e.Kind(), "", escalate)
}

// ForcedFinalizeAcked is the Lead's approval to end the team without the members that never
// answered.
type ForcedFinalizeAcked struct {
	Board string `json:"board"`
	Note  string `json:"note"`
}

func (ForcedFinalizeAcked) Kind() string { return "FORCED_FINALIZE_ACK" }

// Subject returns the board.
func (e ForcedFinalizeAcked) Subject() string { return e.Board }

func (e ForcedFinalizeAcked) Sentence() Sentence {
	return say(Note, "forced finalize approved by you"+noteSuffix(e.Note)).did("FORCED_FINALIZE")
}

// AckRetryRounds is the number of times that a member without an answer is asked again: seed 002,
// "Retry budget constants".
const AckRetryRounds = 3
