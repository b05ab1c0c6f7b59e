package flow

// The events in this file are read and no longer written. Before form 4 of the state an attempt of
// the task call held its reviews in itself, and told in parts what it came to.

// WorkFinished says that an agent was done with its part of the running attempt, and that a
// supervisor looked at it next.
type WorkFinished struct {
	AttemptRef
	Session string    `json:"session" text:"free"` // that the agent worked in
	Millis  int64     `json:"millis"`              // of this part
	Worked  int64     `json:"worked_millis"`       // of the attempt so far
	Spent   *Spending `json:"spent,omitempty"`     // by the attempt so far
}

// VerdictMissed says that a supervisor came to its end in the running attempt and gave no verdict.
type VerdictMissed struct {
	AttemptRef
	Try     int       `json:"try"` // in the round, from 1
	Of      int       `json:"of"`  // the most there may be
	Reason  string    `json:"reason" text:"free"`
	Session string    `json:"session" text:"free"` // as of a ReviewHeld
	Millis  int64     `json:"millis"`
	Worked  int64     `json:"worked_millis"` // as of WorkFinished
	Spent   *Spending `json:"spent,omitempty"`
}

// ReviewFailed is the outcome of an attempt whose supervisor never was content.
type ReviewFailed struct {
	AttemptRef
	Rounds int    `json:"rounds"` // how often the work was sent back
	Reason string `json:"reason" text:"free"`
	Left   string `json:"board_sha256,omitempty"` // the board as the attempt left it; "" when it is not known
	Millis int64  `json:"millis"`

	Session string    `json:"session,omitempty" text:"free"` // as of a ReplyAccepted
	Spent   *Spending `json:"spent,omitempty"`
}

// BoardEdited says that a person changed the board between two runs while a step was open. The open
// call starts afresh, with the board as it is now.
type BoardEdited struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	BoardSHA string `json:"board_sha256"`
}

// InputLost says that the input of the open call was not journaled and could not be made again. The
// call starts afresh, with the board as it is now.
type InputLost struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	BoardSHA string `json:"board_sha256"`
	Reason   string `json:"reason" text:"free"`
}

// Kind is the record's type in the journal.
func (WorkFinished) Kind() string { return "WORK_FINISHED" }

// Kind is the record's type in the journal.
func (VerdictMissed) Kind() string { return "VERDICT_MISSED" }

// Kind is the record's type in the journal.
func (ReviewFailed) Kind() string { return "REVIEW_FAILED" }

// Kind is the record's type in the journal.
func (BoardEdited) Kind() string { return "BOARD_EDITED" }

// Kind is the record's type in the journal.
func (InputLost) Kind() string { return "INPUT_LOST" }

// Subject is the task.
func (e BoardEdited) Subject() string { return e.Task }

// Subject is the task.
func (e InputLost) Subject() string { return e.Task }

func (e WorkFinished) apply(s *State) error  { return s.addPart(e, e.AttemptRef, e.Worked, e.Spent) }
func (e VerdictMissed) apply(s *State) error { return s.addPart(e, e.AttemptRef, e.Worked, e.Spent) }

// addPart counts what the running attempt came to so far.
func (s *State) addPart(e Event, r AttemptRef, worked int64, spent *Spending) error {
	if err := s.checkRunning(e, r); err != nil {
		return err
	}
	s.chargePart(worked, spent)
	s.Step.Paid, s.Step.Worked = spent, worked
	return nil
}

func (e ReviewFailed) apply(s *State) error {
	if err := s.endAttempt(e, e.AttemptRef, e.Millis, e.Spent, e.Session); err != nil {
		return err
	}
	s.Step.Left, s.Step.Unsettled = e.Left, e.Reason
	return nil
}

func (e BoardEdited) apply(s *State) error {
	return CallRestarted{Step: e.Step, Task: e.Task, BoardSHA: e.BoardSHA}.apply(s)
}

func (e InputLost) apply(s *State) error {
	if s.Step == nil || s.Step.InputSHA == "" {
		return refuse(e, "step %d has no call whose input could be lost", e.Step)
	}
	return CallRestarted{Step: e.Step, Task: e.Task, BoardSHA: e.BoardSHA}.apply(s)
}

// inForm is s as a version of this program folded it that wrote states in that form. Form 3 kept
// tasks under limits for tasks only: they are taken from the snapshot's own state, and so is the
// teardown of a form before 11.
func inForm(version int, s, own State) State {
	if v := s.Supervisor.clone(); version == 9 && v.Waits() != "" {
		block := *v.Block
		block.Written, v.Block, s.Supervisor = false, &block, v
	}
	if version <= 10 {
		s.Turns, s.Teardown = nil, own.Teardown // which forgot the members that had never answered
	}
	if version >= 7 { // what form 8 has added comes of a decision that no version before it has made
		return s
	}
	if s.Step != nil {
		step := *s.Step
		step.Path, step.At, step.GoesOn, step.Hung, step.Restarts, step.LastHung, step.Advice = "", nil, nil, nil, 0, "", ""
		s.Step = &step
	}
	if version >= 5 {
		return s
	}
	s.Strict, s.Finished, s.NotOK, s.Last.Task, s.Last.Accepted = false, 0, nil, "", ""
	if version == 4 {
		return s
	}
	if s.Step != nil {
		step := *s.Step
		step.Stored, step.Plan, step.Round, step.Work, step.Feedback, step.Lost = "", nil, 0, nil, "", 0
		s.Step = &step
	}
	if version == 3 {
		s.Tasks = own.Tasks
		return s
	}
	s.Until, s.Used, s.Total, s.Tasks, s.Session = "", Used{}, Used{}, nil, ""
	s.Limits = Limits{MaxRetries: s.Limits.MaxRetries, MaxSteps: s.Limits.MaxSteps}
	if s.Step != nil && s.Step.Reply != nil {
		step, reply := *s.Step, *s.Step.Reply
		reply.Session, reply.Spent = "", nil
		step.Reply, s.Step = &reply, &step
	}
	return s
}
