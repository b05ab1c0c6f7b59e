package event

import "fmt"

// WorkUndone reports that work which the journal calls done does not count any more: the board
// stands as it did before the work, or marks of the run or the files of an open step are gone. The
// tasks are done again. The event is journaled at the start of a run, before RunStarted, or with a
// decision of a person.
type WorkUndone struct {
	Board    string   `json:"board"`
	BoardSHA string   `json:"board_sha256" text:"fact"`
	Step     int      `json:"step,omitempty"`             // the first step that does not count; 0: only the marks of Tasks are gone
	Gone     string   `json:"gone,omitempty" text:"fact"` // what tells it, if Step is open: [GoneFiles] or [GoneMarks]; "": the board
	Tasks    []string `json:"tasks" text:"name"`          // tasks that have no status any more
}

// What is gone of an open step: the files that its work left, or marks of earlier steps.
const (
	GoneFiles = "files"
	GoneMarks = "marks"
)

func (WorkUndone) Kind() string { return "WORK_UNDONE" }

// Subject returns the board.
func (e WorkUndone) Subject() string { return e.Board }

func (WorkUndone) Needs() int { return 2 }

func (e WorkUndone) Sentence() Sentence {
	tasks := "no task"
	if len(e.Tasks) > 0 {
		tasks = fmt.Sprintf("%s (%s)", Count(len(e.Tasks), "task"), List(e.Tasks, mostNamed))
	}
	if e.Step == 0 {
		return say(Warning, fmt.Sprintf("the marks of %s are gone from the board, so the work does not count", tasks))
	}
	switch e.Gone {
	case GoneMarks:
		return say(Warning, fmt.Sprintf("the marks of %s are gone from the board, so the work does not count, and neither does step %d", tasks, e.Step))
	case GoneFiles:
		return say(Warning, fmt.Sprintf("the files that step %d left are gone, so it does not count: %s to be done again", e.Step, tasks))
	}
	return say(Warning, fmt.Sprintf("the board stands as it did before step %d, so what came after does not count: %s to be done again", e.Step, tasks))
}

// BoardAt returns the SHA-256 of the board at the time of an event that begins or ends a step, or
// that is a decision of a person. It returns "" for other events.
func BoardAt(e Event) string {
	if b, ok := e.(interface{ boardSHA() string }); ok {
		return b.boardSHA()
	}
	return ""
}

func (e StepStarted) boardSHA() string  { return e.BoardSHA }
func (e StepFinished) boardSHA() string { return e.BoardSHA }
func (e Acknowledged) boardSHA() string { return e.BoardSHA }
