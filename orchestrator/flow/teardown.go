package flow

import (
	"slices"

	"kanban-run/orchestrator/event"
)

// teardownMoves maps each state to the states that may follow it. A new run begins in the state "".
var teardownMoves = map[event.TeardownState][]event.TeardownState{
	"":                      {event.TeardownInit},
	event.TeardownInit:      {event.ShutdownRequested, event.ReadyToDelete, event.FailedSafe, event.TeardownInit},
	event.ShutdownRequested: {event.WaitingAcks, event.TeardownInit},
	event.WaitingAcks:       {event.Retrying, event.ReadyToDelete, event.TeardownInit},
	event.Retrying:          {event.Retrying, event.ReadyToDelete, event.FailedSafe, event.TeardownInit},
	event.FailedSafe:        {event.ReadyToDelete, event.TeardownInit},
	event.ReadyToDelete:     {event.TeamDeleted, event.TeardownInit},
}

// Teardown is the progress of the end of a board's team.
type Teardown struct {
	State   event.TeardownState `json:"state"`
	Round   int                 `json:"round,omitempty"`
	Missing []string            `json:"missing,omitempty"` // members that have not answered
	Forced  bool                `json:"forced,omitempty"`  // the Lead has approved the end without the missing answers
}

// Unanswered returns the members that have not answered. The team must not be deleted until they
// answer or the Lead approves the deletion (seed 002, "Forced-finalize preconditions").
func (t *Teardown) Unanswered() []string {
	if t == nil || t.Forced {
		return nil
	}
	return t.Missing
}

// carriedOver returns the teardown with which a new run begins. It has the members that have never
// answered, or is nil if there are none.
func (t *Teardown) carriedOver() *Teardown {
	if missing := t.Unanswered(); len(missing) > 0 {
		return &Teardown{Missing: missing}
	}
	return nil
}

func (s *State) applyTeardownMoved(e event.TeardownMoved) error {
	now := Teardown{}
	if s.Teardown != nil {
		now = *s.Teardown
	}
	switch {
	case !slices.Contains(teardownMoves[now.State], e.To):
		return refuse(e, "%s does not follow %s", e.To, now.State)
	case e.To == event.Retrying && e.Round != now.Round+1 || e.To == event.Retrying && e.Round > event.AckRetryRounds:
		return refuse(e, "round %d does not follow round %d", e.Round, now.Round)
	case e.To == event.FailedSafe && now.State == event.Retrying && now.Round < event.AckRetryRounds:
		return refuse(e, "the members were asked again %s only", event.Count(now.Round, "time"))
	case e.To == event.ReadyToDelete && now.State == event.FailedSafe && !now.Forced,
		e.To == event.ReadyToDelete && now.State == event.TeardownInit && len(now.Unanswered()) > 0:
		return refuse(e, "the Lead has not approved it")
	case s.Step != nil:
		return refuse(e, "step %d is open", s.Step.Number)
	}
	if e.To == event.TeardownInit {
		now = Teardown{Missing: s.Teardown.Unanswered()}
	}
	now.State = e.To
	if e.To == event.Retrying {
		now.Round = e.Round
	}
	if e.To == event.ReadyToDelete && !now.Forced { // all members that were asked have answered
		now.Missing = nil
	}
	s.Teardown = &now
	return nil
}

func (s *State) applyForcedFinalizeCandidate(e event.ForcedFinalizeCandidate) error {
	if s.Teardown == nil || s.Teardown.State != event.Retrying || s.Teardown.Round < event.AckRetryRounds {
		return refuse(e, "the retries are not over")
	}
	now := *s.Teardown
	now.Missing = e.Missing
	s.Teardown = &now
	return nil
}

func (s *State) applyForcedFinalizeAcked(e event.ForcedFinalizeAcked) error {
	if s.Teardown == nil || s.Teardown.State != event.FailedSafe || len(s.Teardown.Missing) == 0 {
		return refuse(e, "no forced finalize waits")
	}
	now := *s.Teardown
	now.Forced = true
	s.Teardown = &now
	return nil
}
