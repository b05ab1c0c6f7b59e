package flow

import (
	"fmt"

	"kanban-run/orchestrator/event"
)

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

// failure returns the status that a task gets when the last retry has failed.
func (s *Step) failure() string {
	if s.Work != nil {
		return StatusNotAccepted
	}
	return StatusNoReply
}

// exhausted returns the end of a run after the last retry. If the Manager's last reply contradicts
// the board that the Manager wrote, neither can be trusted, and the board is frozen. If the work
// has no verdict, a person is needed.
func (s *Step) exhausted() Finish {
	last := ""
	if s.Started != s.Rejected { // other attempts were cut short, or belong to an earlier call
		last = fmt.Sprintf(", attempt %d,", s.Started)
	}
	text := fmt.Sprintf("%s gave no valid reply in %s for %s; the last%s was rejected: %s",
		s.CallRole(), event.Count(s.Rejected, "attempt"), s.Task, last, s.LastReason)
	switch {
	case s.Rejected == 0:
		text = fmt.Sprintf("the session of %s was lost %s: %s", s.Role, event.Count(s.Lost, "time"), s.LastReason)
		return Finish{Outcome: event.Exhausted, Text: text}
	case s.Call == event.ReviewCall:
		text = fmt.Sprintf("the reviewer of %s gave no verdict in %s; the last: %s",
			s.Role, event.Count(s.Rejected, "attempt"), s.LastReason)
		return Finish{Outcome: event.NeedsPerson, Text: text}
	case s.Disagreed:
		return Finish{Outcome: event.Frozen, Text: text}
	default:
		return Finish{Outcome: event.Exhausted, Text: text}
	}
}
