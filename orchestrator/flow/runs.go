package flow

import "kanban-run/orchestrator/event"

func (s *State) applyRunStarted(e event.RunStarted) error {
	if s.Spent {
		s.freshen()
	}
	s.Running, s.Spent, s.Outcome, s.Text, s.Until = true, false, "", "", ""
	s.Limits, s.Teardown, s.Workdir = e.Limits, s.Teardown.forget(), e.Workdir
	for _, task := range e.DoneBefore {
		s.keepStatus(task, StatusBefore)
	}
	s.Manager, s.Reassign = e.Manager, e.Reassign
	s.goBy(e.Git, e.Elsewhere)
	s.superviseBy(e.Supervision, e.Memory, e.Adapter)
	return nil
}

// freshen resets the counts for limits and retries: "After any Finish a new run has fresh ones".
// Accepted replies stay accepted. Work that its reviews never accepted begins again.
func (s *State) freshen() {
	s.Steps, s.Repeat, s.Used, s.Tasks, s.Replanned, s.Tools = 0, Repeat{}, event.Used{}, nil, nil, nil
	step := s.Step
	if step == nil {
		return
	}
	if s.Quarantined(step.Task) != nil && step.Unsettled != "" {
		return // a person decides
	}
	if step.Unsettled != "" && step.Work != nil && !step.isStuck() {
		step.beginWork()
	}
	if step.GoesOn != nil && (step.Rejected > 0 || step.Restarts > 0 || step.Unsettled != "") {
		step.GoesOn = nil         // to go on in the same conversation has not helped
		if step.Unsettled == "" { // otherwise a person has looked at it
			step.tellAdvice()
		}
	}
	step.Restarts, step.LastHung, step.Agent = 0, "", 0
	step.Rejected, step.Lost, step.Disagreed, step.Unsettled = 0, 0, false, ""
}

func (s *State) applyRunInterrupted(e event.RunInterrupted) error {
	s.Running, s.Outcome, s.Text, s.Until = false, e.Outcome, e.Reason, e.Until
	s.keepFiles(e.Quarantined)
	return nil
}

func (s *State) applyRunFinished(e event.RunFinished) error {
	s.Running, s.Spent = false, true
	s.Outcome, s.Text = e.Outcome, e.Text
	if v := s.Supervisor.clone(); v.Waits() != "" && v.Block.Ended != "" {
		block := *v.Block
		block.Written, v.Block, s.Supervisor = true, &block, v
	}
	if e.Outcome == event.Frozen && s.Frozen == nil {
		s.Frozen = &Freeze{Text: e.Text}
	}
	return nil
}

// applyAcknowledged lets a board go on that waited for its Lead. A frozen board that asks for a
// choice stays frozen unless the choice answers the question.
func (s *State) applyAcknowledged(e event.Acknowledged) error {
	thawed := s.Frozen != nil
	switch {
	case !thawed || !s.Frozen.Asks:
	case e.Choice != event.Accept && (e.Choice != event.Retry || s.Frozen.Git != nil):
		return nil // the choice does not answer the question
	case s.Frozen.Git != nil:
		s.Git, s.Frozen = s.Frozen.Git, nil
		s.Outcome, s.Text = event.Interrupted, e.Text
		return nil
	}
	s.Frozen = nil
	s.Last.Acknowledged, s.Last.Accepted = true, ""
	if len(s.Quarantine) > 0 && (!thawed || e.Choice == "") {
		last := s.Quarantine[len(s.Quarantine)-1].Task
		s.Quarantine = nil
		s.endLoop(last)
	}
	if e.Choice == event.Accept && s.Supervisor != nil && !thawed { // accepted as it stands: no checkpoint follows
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.Due, s.Supervisor.Since = nil, nil
	}
	switch {
	case s.Supervisor.Waits() == "":
	case e.Look:
		s.lookAnew()
	default:
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.settle(e.Choice)
	}
	switch {
	case thawed: // it was about the board's file, with which the next run goes on
		if e.Text != "" {
			s.Outcome, s.Text = event.Interrupted, e.Text
		}
	case e.Choice == event.Accept:
		s.Last.Accepted, s.Last.BoardSHA = e.Text, e.BoardSHA
		s.Outcome, s.Text = event.Complete, e.Text
	case e.Choice == event.Retry:
		s.Outcome, s.Text = event.Interrupted, e.Text
	}
	if s.Step != nil {
		s.Step.restart(e.BoardSHA)
	}
	return nil
}
