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
		stopped.Session, stopped.Reason = "", "its run was at work in another folder"
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
	step := s.Step
	if !e.Booted && step != nil && step.Running != 0 {
		return refuse(e, "an attempt is running")
	}
	s.Place = e.Place
	if v := s.Supervisor.clone(); v != nil {
		v.Mark, s.Supervisor = "", v
	}
	if step != nil {
		step.Mark = e.Mark
	}
	if e.Booted {
		return nil
	}
	s.Session = ""
	s.forgetSupervisor()
	if step == nil {
		return nil
	}
	step.GoesOn = nil
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
