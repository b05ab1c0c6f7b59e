package event

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

// TeardownBlocked says why the team is not to be deleted.
type TeardownBlocked struct {
	Board  string `json:"board" text:"free"`
	Reason string `json:"reason" text:"free"`
}

// Kind is the record's type in the journal.
func (TeardownBlocked) Kind() string { return "TEARDOWN_BLOCKED" }

// Subject is the board.
func (e TeardownBlocked) Subject() string { return e.Board }

// ForcedFinalizeAcked is the Lead's approval.
type ForcedFinalizeAcked struct {
	Board string `json:"board" text:"free"`
	Note  string `json:"note" text:"free"`
}

// Kind is the record's type in the journal.
func (ForcedFinalizeAcked) Kind() string { return "FORCED_FINALIZE_ACK" }

// Subject is the board.
func (e ForcedFinalizeAcked) Subject() string { return e.Board }
