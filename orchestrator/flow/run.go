package flow

import (
	"cmp"
	"path"
	"slices"

	"kanban-run/orchestrator/event"
)

func (s *State) applyRunStarted(e event.RunStarted) error {
	if s.Spent {
		s.freshen()
	}
	killed := s.Running
	s.Running, s.Spent, s.Outcome, s.Text, s.Until, s.AsksOf = true, false, "", "", "", false
	s.Behind = ""
	s.Limits, s.Teardown, s.Workdir, s.Version = e.Limits, s.Teardown.carriedOver(), e.Workdir, e.Version
	for _, task := range e.DoneBefore {
		s.keepStatus(task, StatusBefore)
	}
	s.Manager, s.Reassign = e.Manager, e.Reassign
	s.ManagerIsTold, s.KeepGoing, s.ByNeeds, s.Lenient = e.Told, e.KeepGoing, e.ByNeeds, e.Lenient
	s.takeMended(e)
	s.endWaiting()
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
	if s.Quarantined(step.Task) != nil && step.Unsettled != "" {
		return // the quarantine waits for a person
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
	s.Running, s.Outcome, s.Text, s.Until, s.AsksOf = false, e.Outcome, e.Reason, e.Until, e.Changed
	s.Behind = e.Behind
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
	s.Outcome, s.Text, s.Marks, s.Behind = e.Outcome, e.Text, cmp.Or(e.Marks, s.Marks), e.Behind
	if v := s.Supervisor.clone(); v.Waits() != "" && v.Block.Ended != "" {
		block := *v.Block
		block.Written, v.Block, s.Supervisor = true, &block, v
	}
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
		if len(s.Changed) == 0 {
			return refuse(e, "no file that decides was changed")
		}
		s.Changed, s.AsksOf, s.Outcome, s.Text = nil, false, event.Interrupted, e.Text
		return nil
	case event.AboutCheckpoint:
		if s.Supervisor.Waits() == "" {
			return refuse(e, "no checkpoint stops the board")
		}
		s.settleCheckpoint(e)
	case event.AboutQuarantine:
		if len(s.Quarantine) == 0 {
			return refuse(e, "no task is in quarantine")
		}
		s.release(e.Task)
	case event.AboutAside:
		return s.settleAside(e)
	case event.AboutTask:
		return s.settleTask(e)
	case event.AboutStep:
		if s.Step == nil {
			return refuse(e, "no step is open")
		}
		if e.Choice == event.Accept {
			s.Step.accept()
			s.goOn(e)
			// The Manager is called later. If the board's hash then differs from the field Left, a
			// person has edited the board.
			s.Step.Left = e.BoardSHA
			return nil
		}
	case event.AboutEnd:
		if e.Choice == event.Accept {
			s.acceptEnd(e)
			return nil
		}
		s.removeAside(e.Task)
	}
	s.goOn(e)
	return nil
}

// settleTask carries out a decision about a task that is not in turn, while a run is at work.
func (s *State) settleTask(e event.Acknowledged) error {
	switch {
	case s.Step != nil && path.Clean(s.Step.Task) == path.Clean(e.Task):
		return refuse(e, "%s is in turn", e.Task)
	case s.AsideOf(e.Task) != nil:
		s.decideAside(e)
	case e.Choice == event.Skip:
		s.keepStatus(e.Task, StatusSkipped)
	default:
		s.keepStatus(e.Task, StatusAccepted)
	}
	return nil
}

// goOn lets the next run go on from the board as the decision leaves it. An open call starts
// afresh.
func (s *State) goOn(e event.Acknowledged) {
	s.goOnFrom(e)
	if s.Step != nil {
		s.Step.restart(e.BoardSHA)
	}
}

// goOnFrom lets the next run go on after a decision. It leaves the open call as it is.
func (s *State) goOnFrom(e event.Acknowledged) {
	s.Frozen = nil
	s.Last.Acknowledged, s.Last.Accepted = true, ""
	s.Outcome, s.Text = event.Interrupted, e.Text
}

// thaw ends a freeze, if the choice answers the question of the freeze. The board then goes on from
// its file, or its checkpoints in git take the new route.
func (s *State) thaw(e event.Acknowledged) error {
	f := s.Frozen
	switch {
	case f == nil:
		return refuse(e, "the board is not frozen")
	case f.Git != nil && e.Choice != event.Accept, f.Asks && e.Choice != event.Accept && e.Choice != event.Retry:
		return nil
	case f.Git != nil:
		s.Git, s.Frozen = f.Git, nil
		s.Outcome, s.Text = event.Interrupted, e.Text
		return nil
	}
	s.goOn(e)
	s.change(e.Dropped, nil)
	if e.Left != "" {
		s.endAsLeft(e)
	}
	return nil
}

// endAsLeft ends the open step of a frozen board that the Lead lets stand, because the board has
// ended. The board's end counts as the Manager's: a person decided about the disagreement, and not
// about the open tasks.
func (s *State) endAsLeft(e event.Acknowledged) {
	if step := s.Step; step != nil {
		*s = s.afterStep()
		s.Step, s.Last.Task = nil, step.Task
	}
	s.Last = ManagerReply{Task: s.Last.Task, BoardSHA: e.BoardSHA}
	s.Outcome, s.Text = event.Incomplete, e.Left
}

// settleCheckpoint lets a board go on after a checkpoint has stopped it. With Retry a new
// checkpoint looks at the work first.
func (s *State) settleCheckpoint(e event.Acknowledged) {
	s.Last.BoardSHA = e.BoardSHA
	if e.Choice == event.Retry {
		s.lookAnew()
		return
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.settle(event.Override)
}

// release ends the quarantine of a task, or of all tasks if task is "".
func (s *State) release(task string) {
	last := s.Quarantine[len(s.Quarantine)-1].Task
	s.Quarantine = slices.DeleteFunc(slices.Clone(s.Quarantine), func(q Quarantine) bool { return task == "" || q.Task == task })
	s.endLoop(cmp.Or(task, last))
}

// acceptEnd accepts a board that has ended, or only one of its tasks if e names a task. An accepted
// task counts as done. An accepted board stays ended, and no checkpoint follows.
func (s *State) acceptEnd(e event.Acknowledged) {
	s.Last.BoardSHA = e.BoardSHA
	if e.Task != "" {
		s.keepStatus(e.Task, StatusAccepted)
		if e.Left != "" {
			s.Last.Acknowledged, s.Text = true, e.Left
			return
		}
	} else {
		s.Last.Accepted = e.Text
		if s.Supervisor != nil {
			s.Supervisor = s.Supervisor.clone()
			s.Supervisor.Due, s.Supervisor.Since = nil, nil
		}
	}
	if len(s.Quarantine) > 0 {
		s.release("")
	}
	s.Last.Acknowledged = true
	s.Outcome, s.Text = event.Complete, e.Text
}

// accept counts the work of the open step as done, because a person decided so. The Manager is
// called next.
func (s *Step) accept() {
	s.Unsettled, s.TaskStatus = "", StatusOK
	s.callManager()
}
