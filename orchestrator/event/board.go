package event

// BoardWriteStarted is the intent to replace the board.
type BoardWriteStarted struct {
	Step   int    `json:"step"`
	Task   string `json:"task" text:"name"`
	Before string `json:"before_sha256" text:"fact"`
	After  string `json:"after_sha256" text:"fact"`
}

func (BoardWriteStarted) Kind() string { return "BOARD_WRITE_STARTED" }

func (e BoardWriteStarted) Subject() string { return e.Task }

func (e BoardWriteStarted) Sentence() Sentence {
	return traceOf(e).in(e.Step)
}

// BoardWritten is the outcome of a BoardWriteStarted: the board was replaced.
type BoardWritten struct {
	Step     int    `json:"step"`
	Task     string `json:"task" text:"name"`
	BoardSHA string `json:"board_sha256" text:"fact"`
}

func (BoardWritten) Kind() string { return "BOARD_WRITTEN" }

func (e BoardWritten) Subject() string { return e.Task }

func (e BoardWritten) Sentence() Sentence {
	return traceOf(e).in(e.Step)
}

// BoardEnded is the intent to mark the board as ended, as a checkpoint requires.
type BoardEnded struct {
	Task     string `json:"task" text:"name"` // ID of the checkpoint; if there is none, the supervisor's role
	Before   string `json:"before_sha256" text:"fact"`
	BoardSHA string `json:"board_sha256" text:"fact"`
	Current  string `json:"current,omitempty" text:"name"` // the task that was current
}

func (BoardEnded) Kind() string { return "BOARD_ENDED" }

// Subject returns the ID of the checkpoint. Without a checkpoint it returns the supervisor's role.
func (e BoardEnded) Subject() string { return e.Task }

func (e BoardEnded) Sentence() Sentence {
	return say(Critical, e.Task+" ends the board: it says ended: blocked")
}

// Walker is the name of the adapter without a program. With it the run itself plays the Manager.
const Walker = "walk"
