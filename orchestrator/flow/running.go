package flow

import (
	"strings"

	"kanban-run/orchestrator/event"
)

// isRunning reports whether attempt r was started and has no outcome yet.
func (s *State) isRunning(r event.AttemptRef) bool {
	step := s.Step
	return step != nil && step.Number == r.Step && step.Call == r.Call && step.Running == r.Attempt && r.Attempt != 0
}

func (s *State) checkRunning(e event.Event, r event.AttemptRef) error {
	if !s.isRunning(r) {
		return refuse(e, "attempt %d of the %s call of step %d is not running", r.Attempt, r.Call, r.Step)
	}
	return nil
}

// endAttempt closes the running attempt and charges its time and spending. It refuses e if r is not
// the running attempt.
func (s *State) endAttempt(
	e event.Event, r event.AttemptRef, millis int64, spent *event.Spending, session string,
) error {
	if err := s.checkRunning(e, r); err != nil {
		return err
	}
	if hung := s.Step.Hung; hung.StopsForTool() { // in journals of earlier versions also with a reply
		s.Step.Unsettled = stuckPrefix + hung.Text
	}
	// The watch's decision about the attempt is void if the attempt ended by itself. If the attempt
	// was stopped, applyAttemptStopped carries the decision out from a copy.
	s.Step.Running, s.Step.At, s.Step.Hung, s.Step.Consent = 0, nil, nil, nil
	s.Step.Judge = nil
	if r.Call.IsReview() || r.Call.IsSupervision() {
		session = "" // State.Session is the session of the work, which a person may resume
	}
	if r.Call.IsSupervision() && s.Supervisor != nil {
		v := *s.Supervisor
		v.Used.Add(millis, spent)
		s.Supervisor = &v
	}
	s.charge(millis, spent, session)
	if end, _ := event.EndOf(e); end.Frozen > 0 {
		s.creditTask(end.Frozen)
	}
	return nil
}

// Hung is the watch's decision about the running attempt.
type Hung struct {
	Anomaly  string         `json:"anomaly"`
	Decision event.Decision `json:"decision"`
	Text     string         `json:"text"`
	Found    *event.Anomaly `json:"found,omitempty"` // anomaly to tell the Manager; nil unless Decision is Replan
}

// StopsForTool reports whether the run is to end because a tool is not available. A reply of the
// attempt is not accepted then, because a person decides about the work.
func (h *Hung) StopsForTool() bool {
	return h != nil && h.Decision == event.Stuck && strings.HasPrefix(h.Anomaly, event.ToolCheck+" ")
}

// thread returns the session of the running attempt, or nil if the work cannot go on in it. The
// parameter "session" is the ID that the agent's tool has reported, or "".
func (s *State) thread(session string) *Thread {
	if s.Step == nil {
		return nil
	}
	if t := s.Step.At.named(session); t != nil && t.Session != "" {
		return t
	}
	return nil
}

// named returns a copy of t with this session ID, or t itself if session is "". It does not change
// t, because a refused event has to leave the state as it was.
func (t *Thread) named(session string) *Thread {
	if t == nil || session == "" {
		return t
	}
	return &Thread{Adapter: t.Adapter, Session: session}
}
