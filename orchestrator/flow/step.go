package flow

import (
	"cmp"
	"slices"

	"kanban-run/orchestrator/event"
)

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
	s.forgetRemark(e.Task)
	if s.tellDecided(); s.Step.Anomaly == nil {
		s.tellQuarantine()
	}
	if s.Step.Anomaly == nil {
		s.countRepeat(e)
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
	s.countStep()
	s.keepStatus(cmp.Or(s.Step.Path, s.Step.Task), s.Step.status())
	s.finishAside()
	s.change(e.Dropped, e.Renamed)
	s.superviseTask()
	s.Last = ManagerReply{Status: e.Manager, Message: e.Message, BoardSHA: e.BoardSHA, Task: s.Step.Task, Next: e.Next(), Said: s.Step.Said}
	if w := s.Step.Walked; w != nil {
		s.Last.Walked, s.Last.Left = true, w.Left
		if last := len(s.Statuses) - 1; w.Marked && last >= 0 {
			s.Statuses = slices.Clone(s.Statuses)
			s.Statuses[last].Marked = true
		}
	} else {
		s.forgetMarks()
	}
	s.Step = nil
	return nil
}

func (s *State) applyStepAbandoned(e event.StepAbandoned) error {
	if s.Step == nil || s.Step.Number != e.Step {
		return refuse(e, "step %d is not open", e.Step)
	}
	s.keepStatus(cmp.Or(s.Step.Path, s.Step.Task), s.Step.TaskStatus) // accepted work stays done
	s.putOffCheckpoint()
	s.tryAside(e.Named)
	s.Step = nil
	return nil
}
