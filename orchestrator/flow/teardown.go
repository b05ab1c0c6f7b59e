package flow

import (
	"fmt"
	"slices"
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

// AckRetryRounds is how often a member of the team that has not answered is asked again: seed 002,
// "Retry budget constants".
const AckRetryRounds = 3

// teardownMoves are all transitions. A new run begins without a state.
var teardownMoves = map[TeardownState][]TeardownState{
	"":                {TeardownInit},
	TeardownInit:      {ShutdownRequested, ReadyToDelete, FailedSafe, TeardownInit},
	ShutdownRequested: {WaitingAcks, TeardownInit},
	WaitingAcks:       {Retrying, ReadyToDelete, TeardownInit},
	Retrying:          {Retrying, ReadyToDelete, FailedSafe, TeardownInit},
	FailedSafe:        {ReadyToDelete, TeardownInit},
	ReadyToDelete:     {TeamDeleted, TeardownInit},
}

// Teardown is where the end of the team stands.
type Teardown struct {
	State   TeardownState `json:"state"`
	Round   int           `json:"round,omitempty"`
	Missing []string      `json:"missing,omitempty"` // members that have not answered
	Forced  bool          `json:"forced,omitempty"`  // the Lead has approved it without them
}

// Unanswered are the members without whose answer the team may not be deleted, unless the Lead
// approves it: seed 002, "Forced-finalize preconditions".
func (t *Teardown) Unanswered() []string {
	if t == nil || t.Forced {
		return nil
	}
	return t.Missing
}

// forget begins anew. Members that have never answered stay missing.
func (t *Teardown) forget() *Teardown {
	if missing := t.Unanswered(); len(missing) > 0 {
		return &Teardown{Missing: missing}
	}
	return nil
}

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

// ForcedFinalizeCandidate names the members that have never answered. The Lead may
// approve the end without them.
type ForcedFinalizeCandidate struct {
	Board   string   `json:"board" text:"free"`
	Missing []string `json:"missing"`
}

// TeardownBlocked says why the team is not to be deleted.
type TeardownBlocked struct {
	Board  string `json:"board" text:"free"`
	Reason string `json:"reason" text:"free"`
}

// ForcedFinalizeAcked is the Lead's approval.
type ForcedFinalizeAcked struct {
	Board string `json:"board" text:"free"`
	Note  string `json:"note" text:"free"`
}

// Kind is the record's type in the journal.
func (TeardownMoved) Kind() string { return "TEARDOWN" }

// Kind is the record's type in the journal.
func (ForcedFinalizeCandidate) Kind() string { return "FORCED_FINALIZE_CANDIDATE" }

// Kind is the record's type in the journal.
func (TeardownBlocked) Kind() string { return "TEARDOWN_BLOCKED" }

// Kind is the record's type in the journal.
func (ForcedFinalizeAcked) Kind() string { return "FORCED_FINALIZE_ACK" }

// Subject is the board.
func (e TeardownMoved) Subject() string { return e.Board }

// Subject is the board.
func (e ForcedFinalizeCandidate) Subject() string { return e.Board }

// Subject is the board.
func (e TeardownBlocked) Subject() string { return e.Board }

// Subject is the board.
func (e ForcedFinalizeAcked) Subject() string { return e.Board }

func (e TeardownMoved) apply(s *State) error {
	now := Teardown{}
	if s.Teardown != nil {
		now = *s.Teardown
	}
	switch {
	case !slices.Contains(teardownMoves[now.State], e.To):
		return refuse(e, "%s does not follow %s", e.To, now.State)
	case e.To == Retrying && e.Round != now.Round+1 || e.To == Retrying && e.Round > AckRetryRounds:
		return refuse(e, "round %d does not follow round %d", e.Round, now.Round)
	case e.To == FailedSafe && now.State == Retrying && now.Round < AckRetryRounds:
		return refuse(e, "the members were asked again %s only", Count(now.Round, "time"))
	case e.To == ReadyToDelete && now.State == FailedSafe && !now.Forced, e.To == ReadyToDelete && now.State == TeardownInit && len(now.Unanswered()) > 0:
		return refuse(e, "the Lead has not approved it")
	case s.Step != nil:
		return refuse(e, "step %d is open", s.Step.Number)
	}
	if e.To == TeardownInit {
		now = Teardown{Missing: s.Teardown.Unanswered()}
	}
	now.State = e.To
	if e.To == Retrying {
		now.Round = e.Round
	}
	if e.To == ReadyToDelete && !now.Forced { // all that were asked have answered
		now.Missing = nil
	}
	s.Teardown = &now
	return nil
}

func (e ForcedFinalizeCandidate) apply(s *State) error {
	if s.Teardown == nil || s.Teardown.State != Retrying || s.Teardown.Round < AckRetryRounds {
		return refuse(e, "the retries are not over")
	}
	now := *s.Teardown
	now.Missing = e.Missing
	s.Teardown = &now
	return nil
}

func (TeardownBlocked) apply(*State) error { return nil }

func (e ForcedFinalizeAcked) apply(s *State) error {
	if s.Teardown == nil || s.Teardown.State != FailedSafe || len(s.Teardown.Missing) == 0 {
		return refuse(e, "no forced finalize waits")
	}
	now := *s.Teardown
	now.Forced = true
	s.Teardown = &now
	return nil
}

// NotReady says why the team of a board cannot be deleted, also if all its members have shut down:
// seed 002, "Forced-finalize preconditions"; "": it can.
func (h *History) NotReady(terminal bool) string {
	switch {
	case h.Standstill() != "":
		return h.Standstill()
	case h.State.Step != nil:
		return fmt.Sprintf("step %d is open", h.State.Step.Number)
	case !terminal:
		return "the board has tasks to do"
	case h.State.Outcome == NeedsPerson && !h.State.Last.Acknowledged:
		return "the board waits for a decision: " + h.State.Text
	default:
		return ""
	}
}
