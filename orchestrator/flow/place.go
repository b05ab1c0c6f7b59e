package flow

import "kanban-run/orchestrator/event"

// LeavePlace records that the open work was begun in another place, where it may still be at work. An
// attempt that runs there is closed here, and does not go on in its session. Errors: those of the
// function record.
func LeavePlace(s *State, e event.PlaceChanged, record func(event.Event) error) error {
	if judge := s.closeJudge(); judge != nil {
		if err := record(judge); err != nil {
			return err
		}
	}
	if stopped := s.closeAttempt(); stopped != nil {
		stopped.Session, stopped.Reason = "", "its run was at work in another folder; here it is started again with the same input"
		if err := record(*stopped); err != nil {
			return err
		}
	}
	return record(e)
}

// applyPlaceChanged parts the open work from the place in which it was begun. There an agent may go on
// in a session, so none is resumed here. Work whose review needs its session is done again, as if the
// tool had lost the session.
func (s *State) applyPlaceChanged(e event.PlaceChanged) error {
	if s.Step != nil && s.Step.Running != 0 && e.Mark != "" {
		return refuse(e, "an attempt is running")
	}
	if s.Place = e.Place; e.Mark == "" {
		return nil
	}
	s.Session = ""
	if v := s.Supervisor.clone(); v != nil {
		v.Mark, s.Supervisor = "", v
		s.forgetSupervisor()
	}
	step := s.Step
	if step == nil {
		return nil
	}
	step.Mark, step.GoesOn = e.Mark, nil
	if step.Work == nil || step.Work.Session == "" {
		return nil
	}
	work := *step.Work
	work.Session, step.Work = "", &work
	if step.Call.IsReview() && step.Plan != nil && step.Plan.Agent {
		step.beginWork()
	}
	return nil
}
