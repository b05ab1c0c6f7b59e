package flow

import (
	"cmp"

	"kanban-run/orchestrator/event"
)

func (s *State) applyRunStarted(e event.RunStarted) error {
	if s.Spent {
		s.freshen()
	}
	killed := s.Running
	s.Running, s.Spent, s.Outcome, s.Text, s.Decided, s.Until, s.AsksOf = true, false, "", "", false, "", false
	s.Behind, s.Place, s.WorksIn = "", cmp.Or(e.Place, s.Place), e.FromBoard
	s.Limits, s.Teardown, s.Workdir, s.Version = e.Limits, s.Teardown.carriedOver(), e.Workdir, e.Version
	for _, task := range e.DoneBefore {
		s.keepStatus(task, StatusBefore)
	}
	s.Manager, s.Reassign = e.Manager, e.Reassign
	s.ManagerIsTold, s.KeepGoing, s.ByNeeds, s.Lenient = e.Told, e.KeepGoing, e.ByNeeds, e.Lenient
	s.Lands, s.LandTried = e.Lands, false
	s.takeMended(e)
	s.endWaiting()
	s.lookAtCloneAgain()
	s.askAgain() // the new run calls the provider once, even after a refusal
	s.goBy(e.Git, e.Elsewhere)
	s.superviseBy(e.Supervision, e.Memory, e.Adapter, killed)
	return nil
}

// freshen resets the counts for limits and retries. Accepted replies stay accepted. The work on a
// task begins again if the reviews have not accepted the work.
func (s *State) freshen() {
	s.Steps, s.Repeat, s.Used, s.Tasks, s.Replanned, s.Tools = 0, Repeat{}, event.Used{}, nil, nil, nil
	s.Waited, s.Refused = 0, nil
	s.tryAgain()
	step := s.Step
	if step == nil {
		return
	}
	if s.Quarantined(step.Task) != nil && step.Unsettled != "" || step.AsksOfTool() {
		return // it waits for a person
	}
	if step.Unsettled != "" && step.Work != nil && !step.isStuck() {
		step.beginWork()
	}
	if step.GoesOn != nil && (step.Rejected > 0 || step.Restarts > 0 || step.Unsettled != "") {
		step.GoesOn = nil         // to go on in the same conversation has not helped
		if step.Unsettled == "" { // no person has looked at the work, so the next attempt gets the advice
			step.dropInputForAdvice()
		}
	}
	step.Restarts, step.LastHung, step.Agent = 0, "", 0
	step.Rejected, step.Lost, step.Disagreed, step.Unsettled = 0, 0, false, ""
	step.forgetDeclined()
}

func (s *State) applyRunInterrupted(e event.RunInterrupted) error {
	s.Running, s.Outcome, s.Text, s.Decided, s.Until, s.AsksOf = false, e.Outcome, e.Reason, false, e.Until, e.Changed
	s.Behind = e.Behind
	s.askOfClone(e.Clone)
	s.Waited += max(0, e.Waited)
	s.Marks = cmp.Or(e.Marks, s.Marks)
	if s.endWaiting(); e.Outcome == event.Later {
		s.Refused = nil // the next run is again allowed to wait its full time
	}
	s.keepFiles(e.Quarantined)
	return nil
}

func (s *State) applyRunFinished(e event.RunFinished) error {
	s.Running, s.Spent, s.Waiting, s.BlockedBy = false, true, nil, ""
	s.Outcome, s.Text, s.Decided, s.Marks, s.Behind = e.Outcome, e.Text, false, cmp.Or(e.Marks, s.Marks), e.Behind
	s.noteEndWritten()
	if e.Outcome == event.Frozen && s.Frozen == nil {
		s.Frozen = &Freeze{Text: e.Text}
	}
	return nil
}

func (s *State) applyBoardLeft(event.BoardLeft) error {
	s.Behind = ""
	return nil
}

// applyAcknowledged carries out a decision of the Lead for which the board waits.
func (s *State) applyAcknowledged(e event.Acknowledged) error {
	switch e.About {
	case event.AboutWay, event.AboutFile:
		return s.thaw(e)
	case event.AboutChanged:
		return s.settleChanged(e)
	case event.AboutCheckpoint:
		return s.settleCheckpoint(e)
	case event.AboutQuarantine:
		return s.settleQuarantine(e)
	case event.AboutAside:
		return s.settleAside(e)
	case event.AboutTask:
		return s.settleTask(e)
	case event.AboutStep:
		return s.settleStep(e)
	case event.AboutClone:
		return s.settleClone(e)
	case event.AboutLand:
		return s.settleLanding(e)
	case event.AboutEnd:
		s.settleEnd(e)
	default:
		s.goOn(e)
	}
	return nil
}
