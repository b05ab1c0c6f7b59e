package projection

import "kanban-run/orchestrator/event"

// endCheckpoint ends the step of a checkpoint. A call of the Manager may follow in the same step.
func (s *Step) endCheckpoint(e event.Event, c event.Looked) {
	s.State, s.Status, s.Message = StepDone, c.Verdict, c.Reason
	if len(c.Findings) > 0 {
		s.Message = c.Findings[0]
	}
	end, ok := event.EndOf(e)
	if !ok {
		return
	}
	if a := s.Last(); a != nil {
		a.Result, a.Status, a.Message, a.Reason = Accepted, c.Verdict, s.Message, c.Reason
		a.Millis, a.Spent, a.Session = end.Millis, end.Spent, end.Session
	}
}
