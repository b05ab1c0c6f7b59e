package flow

import (
	"cmp"

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
	s.Marks, s.Note = cmp.Or(e.Marks, s.Marks), e.Note
	if step.AsksOfTool() { // earlier versions went on without a decision
		step.Unsettled = ""
	}
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
		step.Given, step.GivenBy, step.Command = cmp.Or(e.Given, e.Digest), s.Version, ""
		if e.Given == "" {
			step.Command = e.Command
		}
	}
	if step.At = nil; e.Resumes {
		step.At = &Thread{Adapter: e.Adapter}
		if !e.Fork {
			step.At.Session = e.From
		}
	}
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
		s.noteFolder()
		s.owe("", "")
		if e.Again {
			return s.askOnceMore(e)
		}
		step.Reply = &e
		s.settleGiven() // the Manager has had the turn since
		return nil
	case event.ReadyCall:
		return s.acceptReady(e)
	}
	s.noteFolder()
	s.owe(e.Status, e.Message)
	step.Left, step.Files, step.Said, step.Printed = e.Left, e.Files, e.Message, ""
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

// noteFolder notes where the first reply of the board was accepted. A supervisor that gets ready has done no work.
func (s *State) noteFolder() {
	if s.Finished == 0 && s.Step.TaskStatus == "" && s.Step.Work == nil {
		s.WorkedIn = cmp.Or(s.WorkedIn, s.WorksIn)
	}
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
	step.LastReason, step.Lacks, step.Printed, step.Crashed = e.Reason, e.Lacks, event.LastLine(e.Stderr), e.HasCrashed()
	return nil
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
		s.noteRefusal(e)
	}
	if e.Class == event.ClassOwnLimit && s.MaySetAside() {
		s.Step.OwnLimit = e.Reason
	}
	s.endHung(&cut)
	s.Step.Left, s.Step.Lacks, s.Step.Printed, s.Step.Crashed = e.Left, e.Lacks, event.LastLine(e.Stderr), false
	s.stopSupervisor(e.Call)
	return nil
}
