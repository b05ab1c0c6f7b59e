package flow

import (
	"cmp"
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

func refuse(e event.Event, format string, args ...any) error {
	return &TransitionError{Kind: e.Kind(), Text: fmt.Sprintf(format, args...)}
}

func (s *State) applyStepStarted(e event.StepStarted) error {
	switch {
	case s.Frozen != nil:
		return refuse(e, "the board is frozen")
	case s.Step != nil:
		return refuse(e, "step %d is still open", s.Step.Number)
	case e.Step != s.LastStep+1:
		return refuse(e, "step %d follows step %d", e.Step, s.LastStep)
	}
	call := event.TaskCall
	if e.Role == event.ManagerRole {
		call = event.ManagerCall
	}
	s.LastStep, s.BlockedBy = e.Step, ""
	s.forgetDecided(e.Task)
	s.Step = &Step{
		Number: e.Step, Task: e.Task, Role: e.Role, BoardSHA: e.BoardSHA, Mark: e.Mark, Path: e.Path, Call: call,
	}
	if e.Call.IsSupervision() {
		return s.openSupervision(e)
	}
	if s.tellManager(); s.Step.Anomaly != nil {
		return nil
	}
	if s.Repeat.matches(Board{Task: e.Task, Role: e.Role, SHA: e.BoardSHA}) {
		s.Repeat.Count++
	} else {
		s.Repeat = Repeat{Task: e.Task, Role: e.Role, BoardSHA: e.BoardSHA, Count: 1}
	}
	return nil
}

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
	if e.Input != nil {
		step.Input, step.Stored = e.Input, e.Stored
	}
	if e.Before != nil {
		step.Before = e.Before
	}
	if e.Call == event.TaskCall {
		step.Plan = e.Plan
	}
	if !e.GoesOn {
		step.GoesOn = nil
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
	s.Step.JudgeMark = ""
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
// the board. A task agent's reply is followed by the first review of its plan or, without a review,
// by the Manager's call.
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
	step.Left = e.Left
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

// begin makes call c due. It clears the input, the retries and the watch's notes of the last call.
func (s *Step) begin(c event.Call) {
	s.GoesOn, s.Hung, s.Restarts, s.LastHung, s.Advice = nil, nil, 0, "", ""
	s.Fruitless, s.TooLong, s.OwnLimit = 0, false, ""
	s.Call, s.Input, s.Stored, s.Rejected, s.LastReason = c, nil, "", 0, ""
	if c == event.ManagerCall {
		s.Agent = 0
	}
}

func (s *Step) callManager() {
	s.begin(event.ManagerCall)
	s.Started = 0
}

// beginWork makes the task call due afresh, in a new session and without earlier rounds and
// reviews.
func (s *Step) beginWork() {
	s.begin(event.TaskCall)
	s.Work, s.Round, s.Feedback, s.Reviews = nil, 0, "", nil
}

// applyReplyRejected counts a rejected reply, except in three cases: the session was lost, the
// session was too long for the first time in this call, or the supervisor's program died. In these
// cases the supervisor is recovered, work under review begins again, and any other call starts
// afresh.
func (s *State) applyReplyRejected(e event.ReplyRejected) error {
	if e.Call == event.CommandCall {
		return refuse(e, "a command ends with a verdict")
	}
	at := s.thread(e.Session)
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
	case e.Call.IsSupervision() && (e.Lost || e.Died || tooLong):
		s.loseSupervisor(e)
	case (e.Lost || tooLong) && step.Work != nil && e.Call != event.ManagerCall:
		step.Lost++
		step.beginWork()
	case e.Lost && step.GoesOn != nil:
		step.GoesOn = nil
		step.tellAdvice()
	case tooLong:
		step.startAfresh(e.Reason)
	default:
		step.Rejected++
		step.continueCut(e, at)
	}
	step.LastReason = e.Reason
	return nil
}

// thread returns the session of the running attempt, or nil if the work cannot go on in it. session
// is the ID that the agent's tool has reported, or "".
func (s *State) thread(session string) *Thread {
	if s.Step == nil {
		return nil
	}
	if t := s.Step.At.named(session); t != nil && t.Session != "" {
		return t
	}
	return nil
}

// continueCut lets work that was cut off go on in its session, which is at, if the attempt made
// progress. It gives up a session after maxFruitless attempts in a row that did nothing.
func (s *Step) continueCut(e event.ReplyRejected, at *Thread) {
	switch {
	case e.Worked && e.Class == event.ClassCut && at != nil:
		s.GoesOn, s.Fruitless = at, 0
	case e.Worked || s.GoesOn == nil:
		s.Fruitless = 0
	case s.Fruitless+1 < maxFruitless:
		s.Fruitless++
	default:
		s.startAfresh(e.Reason)
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
	s.tellAdvice()
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
	if cut.Hung != nil && cut.Hung.Decision == event.Replan {
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

// applyReviewHeld makes the next call due. Accepted work goes to the next review, or after the last
// review to the Manager. Other work goes back to its agent (seed 003, "Supervisor Phase → Agent
// Phase") until the rounds of the plan are used up. Then a person is needed.
func (s *State) applyReviewHeld(e event.ReviewHeld) error {
	if !e.Call.IsReview() {
		return refuse(e, "a %s call has no verdict", e.Call)
	}
	if err := s.endAttempt(e, e.AttemptRef, e.Millis, e.Spent, e.Session); err != nil {
		return err
	}
	s.Refused = nil
	step := s.Step
	step.Left = e.Left
	if !e.Completed && e.Finding != "" {
		step.Reviews = append(slices.Clip(step.Reviews), Visit{Role: string(e.Call), Tree: e.Tree, Finding: e.Finding})
		step.Reviews = step.Reviews[max(0, len(step.Reviews)-mostVisits):]
	}
	next := step.Plan.After(e.Call)
	switch {
	case e.Completed && next != "":
		step.begin(next)
	case e.Completed:
		step.TaskStatus = step.Work.Status
		step.callManager()
	case step.Round > step.Plan.Rounds:
		step.Unsettled = fmt.Sprintf(
			"%s is not content after %s: %s (the next run starts the task afresh; review_rounds of "+
				"the role says how often work may be sent back)",
			e.Player(), event.Count(step.Round, "round"), e.Feedback)
	default:
		step.Round++
		step.Feedback = e.Feedback
		step.begin(event.TaskCall)
	}
	return nil
}

func (s *State) applyCallRestarted(e event.CallRestarted) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Running != 0 || s.Step.Reply != nil {
		return refuse(e, "step %d has no call that could start afresh", e.Step)
	}
	s.Step.restart(e.BoardSHA)
	return nil
}

// restart begins a new series of attempts of the open call. The attempts start from the board with
// SHA-256 sha, which keeps the changes that earlier Manager attempts made. Work under review is not
// done again.
func (s *Step) restart(sha string) {
	s.Before, s.Input, s.Stored, s.GoesOn = nil, nil, "", nil
	s.Rejected, s.Disagreed, s.Left, s.BoardSHA = 0, false, "", sha
	if s.Work == nil {
		s.Started = 0
	}
}

func (s *State) applyStateDiverged(e event.StateDiverged) error {
	if s.Step != nil && e.Source == event.SourceBoard {
		s.Step.BoardSHA = e.After
		if e.Policy == event.PolicyRestore {
			s.Step.Left = e.After
		}
	}
	if e.Policy == event.PolicyFreeze || e.Policy == event.PolicyAsk {
		s.Frozen = &Freeze{Text: e.Text, Asks: e.Policy == event.PolicyAsk}
	}
	return nil
}

func (s *State) applyBoardWriteStarted(e event.BoardWriteStarted) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Reply == nil {
		return refuse(e, "step %d has no accepted Manager reply", e.Step)
	}
	s.Step.Writing = &e
	return nil
}

func (s *State) applyBoardWritten(e event.BoardWritten) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Writing == nil {
		return refuse(e, "no board write was started in step %d", e.Step)
	}
	s.Step.Writing = nil
	return nil
}

func (s *State) applyStepFinished(e event.StepFinished) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Reply == nil {
		return refuse(e, "step %d has no accepted Manager reply", e.Step)
	}
	s.noteQuarantine(e)
	// The step of a checkpoint is not counted among the steps of the board.
	if c := s.Step.Checkpoint; c != nil {
		return s.finishRevision(e)
	}
	s.Steps++
	s.Finished++
	s.leave(e.Leaving)
	t := s.task(s.Step.Task)
	t.Steps++
	s.keepTask(t)
	s.keepStatus(cmp.Or(s.Step.Path, s.Step.Task), s.Step.status())
	if s.Step.status() == StatusOK || s.isDecided(s.Step.Task) {
		s.removeAside(s.Step.Task)
	}
	s.change(e.Dropped, e.Renamed)
	if s.Supervisor != nil && !s.Supervisor.Off && s.Step.Role != event.ManagerRole {
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.endTask(cmp.Or(s.Step.Path, s.Step.Task), s.unfinished())
	}
	s.Last = ManagerReply{Status: e.Manager, Message: e.Message, BoardSHA: e.BoardSHA, Task: s.Step.Task}
	if s.Step.Walked != nil {
		s.Last.Walked, s.Last.Left = true, s.Step.Walked.Left
	}
	s.Step = nil
	return nil
}

// keepStatus notes the status of a task, unless the status is "". The list is copied, because a
// refused event has to leave the state as it was.
func (s *State) keepStatus(task, status string) {
	if status == "" {
		return
	}
	is := func(t TaskStatus) bool { return t.Task == task }
	if i := slices.IndexFunc(s.Statuses, is); i >= 0 {
		s.Statuses = slices.Delete(slices.Clone(s.Statuses), i, i+1)
	}
	s.Statuses = append(slices.Clip(s.Statuses), TaskStatus{task, status})
}

func (s *State) applyStepAbandoned(e event.StepAbandoned) error {
	if s.Step == nil || s.Step.Number != e.Step {
		return refuse(e, "step %d is not open", e.Step)
	}
	s.keepStatus(cmp.Or(s.Step.Path, s.Step.Task), s.Step.TaskStatus) // accepted work stays done
	if c, v := s.Step.Checkpoint, s.Supervisor.clone(); c != nil && v != nil && !v.Off {
		v.Due = append([]event.Checkpoint{*c}, v.Due...)
		s.Supervisor = v
	}
	s.Step = nil
	return nil
}
