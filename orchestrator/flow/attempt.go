package flow

import (
	"cmp"
	"slices"

	"kanban-run/orchestrator/event"
)

func (s *State) applyAttemptStarted(e event.AttemptStarted) error {
	step := s.Step
	switch {
	case step == nil || step.Number != e.Step:
		return refuse(e, "step %d is not open", e.Step)
	case step.Call != e.Call || step.Reply != nil:
		return refuse(e, "a %s call is not due in step %d", e.Call, e.Step)
	case step.Running != 0:
		return refuse(e, "attempt %d has no outcome yet", step.Running)
	case e.Attempt != step.Started+1:
		return refuse(e, "attempt %d follows attempt %d", e.Attempt, step.Started)
	case step.Input == nil && e.Input == nil:
		return refuse(e, "the first attempt of a call names its input")
	}
	step.Started, step.Running, s.Waiting, s.BlockedBy = e.Attempt, e.Attempt, nil, ""
	s.Marks = cmp.Or(e.Marks, s.Marks)
	if e.Input != nil {
		step.Input, step.Stored = e.Input, e.Stored
	}
	if e.Before != nil {
		step.Before = e.Before
	}
	switch e.Call {
	case event.TaskCall:
		step.Plan = e.Plan
	case event.ReadyCall:
		s.startSupervisor()
	}
	if !e.GoesOn {
		step.GoesOn = nil
		step.Given, step.GivenBy = cmp.Or(e.Given, e.Digest), s.Version
	}
	if step.At = nil; e.Resumes {
		step.At = &Thread{Adapter: e.Adapter}
		if !e.Fork {
			step.At.Session = e.From
		}
	}
	return nil
}

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
	if hung := s.Step.Hung; hung.stopsForTool() {
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
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.Used.Add(millis, spent)
	}
	s.charge(millis, spent, session)
	return nil
}

func (s *State) applySessionNamed(e event.SessionNamed) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	if !e.Call.IsReview() && !e.Call.IsSupervision() {
		s.Session = e.Session
	}
	s.Step.At = s.Step.At.named(e.Session)
	return nil
}

// applyReplyAccepted makes the next effect due. The Manager's reply is followed by the write onto
// the board. A task agent's reply is followed by the first review of the work. If no review is due,
// it is followed by the Manager's call.
func (s *State) applyReplyAccepted(e event.ReplyAccepted) error {
	if e.Call.IsReview() || e.Call == event.CheckpointCall {
		return refuse(e, "a review ends with a verdict")
	}
	if err := s.endAttempt(e, e.AttemptRef, e.Millis, e.Spent, e.Session); err != nil {
		return err
	}
	s.Refused = nil
	step := s.Step
	switch e.Call {
	case event.ManagerCall:
		if e.Again {
			return s.askOnceMore(e)
		}
		step.Reply = &e
		return nil
	case event.ReadyCall:
		return s.acceptReady(e)
	}
	step.Left, step.Files = e.Left, e.Files
	if step.Plan == nil || e.Unchecked && !step.Plan.Agent {
		step.TaskStatus = e.Status
		step.callManager()
		return nil
	}
	step.Work, step.Round = &e, max(step.Round, 1)
	seen := event.TaskCall
	if e.Unchecked {
		seen = event.CommandCall // skip the command, because the agent does not claim that the work is done
	}
	step.begin(step.Plan.After(seen))
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

// applyReplyRejected counts a rejected reply, except in four cases: the session was lost, the
// session was too long for the first time in this call, the supervisor's program died, or the
// provider declined the call. The same agent does not get a declined call again. In the other cases
// the call decides what follows. After a call of the supervisor, the supervisor is recovered. Work
// under review begins again. Any other call starts afresh.
func (s *State) applyReplyRejected(e event.ReplyRejected) error {
	if e.Call == event.CommandCall {
		return refuse(e, "a command ends with a verdict")
	}
	at, resumed := s.thread(e.Session), s.Step != nil && s.spawn().From != ""
	if err := s.endAttempt(e, e.AttemptRef, e.Millis, e.Spent, e.Session); err != nil {
		return err
	}
	if e.Worked {
		s.Refused = nil
	}
	step := s.Step
	step.Left, step.Disagreed = e.Left, e.Disagreed
	tooLong := step.StartsAfresh(e.Class)
	step.TooLong = step.TooLong || tooLong
	switch {
	case e.Class == event.ClassDeclined:
		step.Declined, step.GoesOn = e.Reason, nil
	case e.Call.IsSupervision() && (e.Lost || e.Died || tooLong):
		s.loseSupervisor(e)
	case (e.Lost || tooLong) && step.Work != nil && e.Call != event.ManagerCall:
		step.Lost++
		step.beginWork()
	case e.Lost && step.GoesOn != nil:
		step.GoesOn = nil
		step.dropInputForAdvice()
	case tooLong:
		step.startAfresh(e.Reason)
	default:
		step.Rejected++
		step.continueCut(e, at, resumed)
	}
	if e.TimedOut {
		step.TimedOut++
	}
	step.LastReason = e.Reason
	return nil
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

// continueCut keeps or gives up the session of a rejected attempt. If the attempt was cut off after
// progress, the next attempt goes on in this session (the parameter "at"). After maxFruitless
// consecutive attempts without progress, continueCut gives up the session. If the attempts resumed
// the session of accepted work, its loss is in the event instead, see [State.GivesUp].
func (s *Step) continueCut(e event.ReplyRejected, at *Thread, resumed bool) {
	switch {
	case e.Worked && e.Class == event.ClassCut && at != nil:
		s.GoesOn, s.Fruitless = at, 0
	case e.Worked || !resumed:
		s.Fruitless = 0
	case s.GoesOn == nil || s.Fruitless+1 < maxFruitless:
		s.Fruitless++
	default:
		s.startAfresh(e.Reason)
	}
}

// GivesUp reports whether an attempt that ended with class c in the session "from", which is that of
// accepted work or of a supervisor, is the last one in this session. An attempt that was cut off
// says nothing about its session. A reviewer's copy of a session is not given up, because accepted
// work is not done again only because no reviewer could look at it. A supervisor is recovered once.
func (s *State) GivesUp(from string, c event.Class, worked bool) bool {
	step := s.Step
	switch {
	case from == "" || worked || c != event.ClassFormat || step.GoesOn != nil, s.Afresh().Fork,
		step.Checkpoint != nil && step.Lost > 0:
		return false
	default:
		return step.Fruitless+1 >= maxFruitless
	}
}

// maxFruitless is the number of attempts in a row without progress after which a session is given
// up.
const maxFruitless = 2

// startAfresh gives up the session of the call. The agent is told why, if its role takes feedback.
func (s *Step) startAfresh(reason string) {
	s.GoesOn, s.Fruitless = nil, 0
	s.Advice = "An earlier attempt at this task ended, and its conversation could not go on: " + reason +
		". Look at what it has left in the files before you begin."
	s.dropInputForAdvice()
}

func (s *State) applyAttemptStopped(e event.AttemptStopped) error {
	var cut Step
	if s.Step != nil {
		cut = *s.Step
	}
	at := s.thread(e.Session)
	if err := s.endAttempt(e, e.AttemptRef, e.Millis, e.Spent, e.Session); err != nil {
		return err
	}
	if at != nil && (e.Refusal == nil || e.Worked) {
		s.Step.GoesOn, s.Step.Fruitless = at, 0
	}
	if e.Refusal != nil {
		s.refuse(e)
	}
	if e.Class == event.ClassOwnLimit && s.MaySetAside() {
		s.Step.OwnLimit = e.Reason
	}
	if cut.IsReplanned() {
		s.Replanned = append(slices.Clip(s.Replanned), cut.Task)
	}
	s.Step.endHung(cut.Hung)
	s.Step.Left = e.Left
	if v := s.Supervisor; e.Call.IsSupervision() && v != nil && (v.Memory == event.InProcess || v.mustRecover()) {
		s.Supervisor = s.Supervisor.clone()
		s.forgetSupervisor()
	}
	return nil
}
