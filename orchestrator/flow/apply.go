package flow

import "fmt"

func refuse(e Event, format string, args ...any) error {
	return &TransitionError{Kind: e.Kind(), Text: fmt.Sprintf(format, args...)}
}

func (e RunStarted) apply(s *State) error {
	if s.Spent {
		s.freshen()
	}
	s.Running, s.Spent, s.Outcome, s.Text, s.Until = true, false, "", "", ""
	s.Limits = e.Limits
	if e.Uses != nil {
		s.Tasks = e.Uses
	}
	return nil
}

// freshen gives the next run its own limits and attempts: "After any Finish a new run has fresh ones". What was accepted
// stays accepted.
func (s *State) freshen() {
	s.Steps, s.Repeat, s.Used, s.Tasks = 0, Repeat{}, Used{}, nil
	if s.Step != nil {
		s.Step.Rejected, s.Step.Disagreed, s.Step.Unsettled = 0, false, ""
	}
}

func (e StepStarted) apply(s *State) error {
	switch {
	case s.Frozen != nil:
		return refuse(e, "the board is frozen")
	case s.Step != nil:
		return refuse(e, "step %d is still open", s.Step.Number)
	case e.Step != s.LastStep+1:
		return refuse(e, "step %d follows step %d", e.Step, s.LastStep)
	}
	call := TaskCall
	if e.Role == ManagerRole {
		call = ManagerCall
	}
	s.LastStep = e.Step
	s.Step = &Step{Number: e.Step, Task: e.Task, Role: e.Role, BoardSHA: e.BoardSHA, Mark: e.Mark, Call: call}
	if s.Repeat.matches(Board{Task: e.Task, Role: e.Role, SHA: e.BoardSHA}) {
		s.Repeat.Count++
	} else {
		s.Repeat = Repeat{Task: e.Task, Role: e.Role, BoardSHA: e.BoardSHA, Count: 1}
	}
	return nil
}

func (e AttemptStarted) apply(s *State) error {
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
	step.Started, step.Running = e.Attempt, e.Attempt
	if e.Input != nil {
		step.Input, step.InputSHA = e.Input, e.SHA
	}
	if e.Before != nil {
		step.Before = e.Before
	}
	return nil
}

// running checks that an outcome belongs to the attempt that has none yet, and takes it off.
func (s *State) running(e Event, number int, call Call, attempt int) error {
	step := s.Step
	if step == nil || step.Number != number || step.Call != call || step.Running != attempt || attempt == 0 {
		return refuse(e, "attempt %d of the %s call of step %d is not running", attempt, call, number)
	}
	step.Running = 0
	return nil
}

func (e ReplyAccepted) apply(s *State) error {
	if err := s.running(e, e.Step, e.Call, e.Attempt); err != nil {
		return err
	}
	s.charge(e.Millis, e.Spent, e.Session)
	step := s.Step
	if e.Call == ManagerCall {
		step.Reply = &e
		return nil
	}
	step.TaskStatus = e.Status
	if e.Left != "" { // journals of earlier versions do not say, and their snapshots keep what was known before
		step.Left = e.Left
	}
	step.Call, step.Input, step.InputSHA, step.Started, step.Rejected, step.LastReason = ManagerCall, nil, "", 0, 0, ""
	return nil
}

func (e ReplyRejected) apply(s *State) error {
	if err := s.running(e, e.Step, e.Call, e.Attempt); err != nil {
		return err
	}
	s.charge(e.Millis, e.Spent, e.Session)
	s.Step.Rejected++
	s.Step.Left = e.Left
	s.Step.LastReason, s.Step.Disagreed = e.Reason, e.Disagreed
	return nil
}

func (e AttemptStopped) apply(s *State) error {
	if err := s.running(e, e.Step, e.Call, e.Attempt); err != nil {
		return err
	}
	s.charge(e.Millis, e.Spent, e.Session)
	s.Step.Left = e.Left
	return nil
}

func (e BoardEdited) apply(s *State) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Running != 0 || s.Step.Reply != nil {
		return refuse(e, "step %d has no call that could start afresh", e.Step)
	}
	s.Step.restart(e.BoardSHA)
	return nil
}

func (e InputLost) apply(s *State) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Running != 0 || s.Step.Reply != nil || s.Step.InputSHA == "" {
		return refuse(e, "step %d has no call whose input could be lost", e.Step)
	}
	s.Step.restart(e.BoardSHA)
	return nil
}

// restart makes the open call a new series of attempts on the board as it is now: what a Manager attempt may have done to it
// is part of it.
func (s *Step) restart(sha string) {
	s.Before, s.Input, s.InputSHA = nil, nil, ""
	s.Started, s.Rejected, s.Disagreed, s.Left, s.BoardSHA = 0, 0, false, "", sha
}

func (e StateDiverged) apply(s *State) error {
	if s.Step != nil && e.Source == SourceBoard {
		s.Step.BoardSHA = e.After
	}
	if e.Policy == "freeze" {
		s.Frozen = &Freeze{Text: e.Text}
	}
	return nil
}

func (e BoardWriteStarted) apply(s *State) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Reply == nil {
		return refuse(e, "step %d has no accepted Manager reply", e.Step)
	}
	s.Step.Writing = &e
	return nil
}

func (e BoardWritten) apply(s *State) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Writing == nil {
		return refuse(e, "no board write was started in step %d", e.Step)
	}
	s.Step.Writing = nil
	return nil
}

func (e StepFinished) apply(s *State) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Reply == nil {
		return refuse(e, "step %d has no accepted Manager reply", e.Step)
	}
	s.Steps++
	t := s.task(s.Step.Task)
	t.Steps++
	s.keepTask(t)
	s.Step = nil
	s.Last = Ending{Status: e.Manager, Message: e.Message, BoardSHA: e.BoardSHA}
	return nil
}

func (e StepAbandoned) apply(s *State) error {
	if s.Step == nil || s.Step.Number != e.Step {
		return refuse(e, "step %d is not open", e.Step)
	}
	s.Step = nil
	return nil
}

func (e RunInterrupted) apply(s *State) error {
	s.Running, s.Outcome, s.Text, s.Until = false, e.Outcome, e.Reason, e.Until
	return nil
}

func (e RunFinished) apply(s *State) error {
	s.Running, s.Spent = false, true
	s.Outcome, s.Text = e.Outcome, e.Text
	if e.Outcome == Frozen && s.Frozen == nil {
		s.Frozen = &Freeze{Text: e.Text}
	}
	return nil
}

// An acknowledged board is right as it stands.
func (e Acknowledged) apply(s *State) error {
	s.Frozen = nil
	s.Last.Acknowledged = true
	if s.Step != nil {
		s.Step.restart(e.BoardSHA)
	}
	return nil
}
