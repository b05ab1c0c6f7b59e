package flow

import (
	"fmt"

	"kanban-run/orchestrator/event"
)

// exhausted returns the failure of a call whose last retry has failed, or nil. If the Manager's last
// reply contradicts the board that the Manager wrote, neither can be trusted, and the board is frozen.
// If the work has no verdict, a person is needed.
func (s *State) exhausted() *failure {
	step := s.Step
	if !step.isExhausted(s.Limits) {
		return nil
	}
	f := &failure{Finish: Finish{Outcome: event.Exhausted, By: event.ByNoReply}, status: StatusNoReply}
	if step.Work != nil {
		f.status = StatusNotAccepted
	}
	last := ""
	if step.Started != step.Rejected { // other attempts were cut short, or belong to an earlier call
		last = fmt.Sprintf(", attempt %d,", step.Started)
	}
	f.Text = fmt.Sprintf("%s gave no valid reply in %s for %s; the last%s was rejected: %s",
		step.CallRole(), event.Count(step.Rejected, "attempt"), step.Task, last, step.LastReason)
	switch {
	case step.Rejected == 0:
		f.Text = fmt.Sprintf("the session of %s was lost %s: %s", step.Role, event.Count(step.Lost, "time"), step.LastReason)
	case step.Call == event.ReviewCall:
		f.Outcome, f.By = event.NeedsPerson, event.ByReview
		f.Text = fmt.Sprintf("the reviewer of %s gave no verdict in %s; the last: %s",
			step.Role, event.Count(step.Rejected, "attempt"), step.LastReason)
	case step.Disagreed:
		f.Outcome, f.By = event.Frozen, ""
	case step.Crashed:
		f.By = event.ByCrash
	}
	if step.cried() != "" { // its own words first
		f.Text = fmt.Sprintf("%s %s: %s (%s)", step.Task, TaskStatus{Status: StatusNoReply}.Is(), step.cried(), f.Text)
	}
	return f
}

// settleStep carries out a person's decision about the open step: its work counts as done, or the open
// call starts afresh.
func (s *State) settleStep(e event.Acknowledged) error {
	if s.Step == nil {
		return refuse(e, "no step is open")
	}
	switch {
	case e.Choice == event.Accept:
		s.Step.accept()
	case s.Step.AsksOfTool():
		s.Step.Unsettled = ""
	}
	if s.goOn(e); e.Choice == event.Accept {
		// The Manager is called later. If the board's hash then differs from the field Left, a person
		// has edited the board.
		s.Step.Left = e.BoardSHA
	}
	return nil
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
