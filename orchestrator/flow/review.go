package flow

// WorkFinished says that an agent is done with its part of the attempt that is running, and that a supervisor looks at it next: seed 003. Spent
// and Worked are what the attempt came to so far: should the run die, nobody can tell later.
type WorkFinished struct {
	Step    int       `json:"step"`
	Call    Call      `json:"call"`
	Task    string    `json:"task"`
	Role    string    `json:"role"`
	Attempt int       `json:"attempt"`
	Round   int       `json:"round"`               // from 1
	Session string    `json:"session" text:"free"` // that the agent worked in
	Millis  int64     `json:"millis"`              // of this part
	Worked  int64     `json:"worked_millis"`       // of the attempt so far
	Spent   *Spending `json:"spent,omitempty"`     // by the attempt so far
}

// ReviewHeld says that a supervisor has looked at what an agent did in the attempt that is running: seed 003. Spent is what the attempt
// came to so far, the supervisor's part of it, too.
type ReviewHeld struct {
	Step      int       `json:"step"`
	Call      Call      `json:"call"`
	Task      string    `json:"task"`
	Role      string    `json:"role"`
	Attempt   int       `json:"attempt"`
	Round     int       `json:"round"` // from 1
	Completed bool      `json:"completed"`
	Feedback  string    `json:"feedback" text:"free"` // the supervisor's final message
	Session   string    `json:"session" text:"free"`  // the fork that it looked at the work in
	Millis    int64     `json:"millis"`
	Worked    int64     `json:"worked_millis"` // as of WorkFinished
	Spent     *Spending `json:"spent,omitempty"`
}

// VerdictMissed says that a supervisor came to its end in the attempt that is running and gave no verdict. It is asked again, as often as a
// reply would be. What it came to is spent all the same.
type VerdictMissed struct {
	Step    int       `json:"step"`
	Call    Call      `json:"call"`
	Task    string    `json:"task"`
	Role    string    `json:"role"`
	Attempt int       `json:"attempt"`
	Round   int       `json:"round"` // from 1, and in it
	Try     int       `json:"try"`   // from 1
	Of      int       `json:"of"`    // the most there may be
	Reason  string    `json:"reason" text:"free"`
	Session string    `json:"session" text:"free"` // as of a ReviewHeld
	Millis  int64     `json:"millis"`
	Worked  int64     `json:"worked_millis"` // as of WorkFinished
	Spent   *Spending `json:"spent,omitempty"`
}

// ReviewFailed is the outcome of an attempt whose supervisor never was content. A person has to look.
type ReviewFailed struct {
	Step    int    `json:"step"`
	Call    Call   `json:"call"`
	Task    string `json:"task"`
	Role    string `json:"role"`
	Attempt int    `json:"attempt"`
	Rounds  int    `json:"rounds"` // how often the work was sent back
	Reason  string `json:"reason" text:"free"`
	Left    string `json:"board_sha256,omitempty"` // the board as the attempt left it; "" when nobody knows
	Millis  int64  `json:"millis"`

	Session string    `json:"session,omitempty" text:"free"` // as of a ReplyAccepted
	Spent   *Spending `json:"spent,omitempty"`
}

// Kind is the record's type in the journal.
func (WorkFinished) Kind() string { return "WORK_FINISHED" }

// Subject is the task.
func (e WorkFinished) Subject() string { return e.Task }

// Kind is the record's type in the journal.
func (ReviewHeld) Kind() string { return "REVIEW_HELD" }

// Kind is the record's type in the journal.
func (ReviewFailed) Kind() string { return "REVIEW_FAILED" }

// Kind is the record's type in the journal.
func (VerdictMissed) Kind() string { return "VERDICT_MISSED" }

// Subject is the task.
func (e VerdictMissed) Subject() string { return e.Task }

// Subject is the task.
func (e ReviewHeld) Subject() string { return e.Task }

// Subject is the task.
func (e ReviewFailed) Subject() string { return e.Task }

func (e WorkFinished) apply(s *State) error {
	return s.progress(e, e.Step, e.Call, e.Attempt, e.Worked, e.Spent)
}

func (e ReviewHeld) apply(s *State) error {
	return s.progress(e, e.Step, e.Call, e.Attempt, e.Worked, e.Spent)
}

func (e VerdictMissed) apply(s *State) error {
	return s.progress(e, e.Step, e.Call, e.Attempt, e.Worked, e.Spent)
}

// progress counts what the running attempt came to so far.
func (s *State) progress(e Event, number int, call Call, attempt int, worked int64, spent *Spending) error {
	step := s.Step
	if step == nil || step.Number != number || step.Call != call || step.Running != attempt || attempt == 0 {
		return refuse(e, "attempt %d of the %s call of step %d is not running", attempt, call, number)
	}
	s.chargePart(worked, spent)
	step.Paid, step.Worked = spent, worked
	return nil
}

func (e ReviewFailed) apply(s *State) error {
	if err := s.running(e, e.Step, e.Call, e.Attempt); err != nil {
		return err
	}
	s.charge(e.Millis, e.Spent, e.Session)
	s.Step.Left, s.Step.Unsettled = e.Left, e.Reason
	return nil
}
