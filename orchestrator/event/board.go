package event

// BoardWriteStarted is the intent to replace the board.
type BoardWriteStarted struct {
	Step   int    `json:"step"`
	Task   string `json:"task"`
	Before string `json:"before_sha256"`
	After  string `json:"after_sha256"`
}

func (BoardWriteStarted) Kind() string { return "BOARD_WRITE_STARTED" }

func (e BoardWriteStarted) Subject() string { return e.Task }

// Sentence implements [Event].
func (e BoardWriteStarted) Sentence() Sentence {
	return traceOf(e).in(e.Step)
}

// BoardWritten is the outcome of a BoardWriteStarted: the board was replaced.
type BoardWritten struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	BoardSHA string `json:"board_sha256"`
}

func (BoardWritten) Kind() string { return "BOARD_WRITTEN" }

func (e BoardWritten) Subject() string { return e.Task }

// Sentence implements [Event].
func (e BoardWritten) Sentence() Sentence {
	return traceOf(e).in(e.Step)
}

// BoardEnded is the intent to write onto the board that a checkpoint has ended it.
type BoardEnded struct {
	Task     string `json:"task"` // the checkpoint, or the supervisor's role
	Before   string `json:"before_sha256"`
	BoardSHA string `json:"board_sha256"`
	Current  string `json:"current,omitempty"` // the task that was current
}

// Kind implements [Event].
func (BoardEnded) Kind() string { return "BOARD_ENDED" }

// Subject returns the checkpoint, or the supervisor's role.
func (e BoardEnded) Subject() string { return e.Task }

// Sentence implements [Event].
func (e BoardEnded) Sentence() Sentence {
	return say(Critical, e.Task+" ends the board: it says ended: blocked")
}

// ManagerWalked is the decision of walk, and the intent to write it onto the board.
type ManagerWalked struct {
	Step     int     `json:"step"`
	Task     string  `json:"task"`
	Status   string  `json:"status"`
	Message  string  `json:"message" text:"free"`
	NextTask *string `json:"next_task"`
	Marked   bool    `json:"marked,omitempty"`              // the task is marked as done
	Warning  string  `json:"warning,omitempty" text:"free"` // set where the board cannot record how it ended
	ByNeeds  bool    `json:"by_needs,omitempty"`            // it met a task that needs one which is not done
	Before   string  `json:"before_sha256"`                 // of the board before the decision
	Current  string  `json:"current"`                       // the task that the board then named; "": it was over
	After    string  `json:"after_sha256"`                  // of the board as the decision leaves it

	Left []string `json:"left,omitempty" text:"free"` // tasks that it could not name, with the reasons
}

// Kind implements [Event].
func (ManagerWalked) Kind() string { return "MANAGER_WALKED" }

// Subject returns the task.
func (e ManagerWalked) Subject() string { return e.Task }

// Sentence implements [Event].
func (e ManagerWalked) Sentence() Sentence {
	s := inStep(e.Step, weightOfStatus(e.Status), "%s %s: %s", ManagerRole, e.Status, Brief(e.Message))
	for _, text := range e.Left {
		s.Add(Warning, text)
	}
	return s
}

// Walker is the name of an adapter without a program: the run itself plays the Manager.
const Walker = "walk"
