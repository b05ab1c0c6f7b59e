package event

import "strings"

// StepStarted opens a step: a task is about to be given to a role.
type StepStarted struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	Role     string `json:"role"`
	BoardSHA string `json:"board_sha256"`
	Index    int    `json:"index"` // the task's place in the list, from 1; 0 when it is not listed
	Of       int    `json:"of"`
	Mark     string `json:"mark,omitempty"` // of the step's processes, by which they are found after a crash
	Path     string `json:"path,omitempty"` // of the task, where Task is another spelling of it, such as ./tasks/1.md

	Call       Call        `json:"call,omitempty"`       // of a supervisor's step: the call that it begins with
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"` // of a supervisor's step; nil: it only gets ready
}

func (StepStarted) Kind() string { return "STEP_STARTED" }

func (e StepStarted) Subject() string { return e.Task }

// Sentence implements [Event].
func (e StepStarted) Sentence() Sentence {
	switch {
	case !e.Call.IsSupervision():
		return inStep(e.Step, Routine, "%s to %s%s", e.Task, e.Role, placeSuffix(e.Index, e.Of))
	case e.Checkpoint == nil:
		return inStep(e.Step, Routine, "%s gets ready", e.Role)
	default:
		return inStep(e.Step, Routine, "%s looks at %s: %s",
			e.Role, e.Checkpoint.ID, strings.Join(e.Checkpoint.Scope, ", "))
	}
}

// CallRestarted starts the open call afresh, on the board as it is now.
type CallRestarted struct {
	Step     int    `json:"step"`
	Task     string `json:"task"`
	BoardSHA string `json:"board_sha256"`
	Reason   string `json:"reason" text:"free"`
}

func (CallRestarted) Kind() string { return "CALL_RESTARTED" }

func (e CallRestarted) Subject() string { return e.Task }

// Sentence implements [Event].
func (e CallRestarted) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s; the call starts afresh", e.Reason)
}

// StepFinished closes a step: the board holds the Manager's decision.
type StepFinished struct {
	Step     int     `json:"step"`
	Task     string  `json:"task"`
	Role     string  `json:"role"`
	Status   string  `json:"status"`                        // of the task agent
	Manager  string  `json:"manager"`                       // status of the Manager
	Message  string  `json:"message" text:"free"`           // the Manager's
	NextTask *string `json:"next_task"`                     // nil: the Manager names no next task
	BoardSHA string  `json:"board_sha256"`                  // of the board as the step leaves it
	Warning  string  `json:"warning,omitempty" text:"free"` // set if file and reply differed and the file won
	Millis   int64   `json:"millis"`                        // from the step's start

	Checkpoint string `json:"checkpoint,omitempty"` // after which the Manager was called; "": a step of the board

	Dropped     []string   `json:"dropped,omitempty" text:"free"` // tasks that the Manager took off the list undone
	Renamed     []Rename   `json:"renamed,omitempty" text:"free"` // tasks that the Manager named anew
	Leaving     *Leaving   `json:"leaving,omitempty" text:"free"` // nil: a task is next that was not worked on lately
	Quarantined []TaskFile `json:"quarantined,omitempty"`         // the files of tasks in quarantine
}

func (StepFinished) Kind() string { return "STEP_FINISHED" }

func (e StepFinished) Subject() string { return e.Task }

// Sentence implements [Event].
func (e StepFinished) Sentence() Sentence {
	next := "nothing is next"
	if e.NextTask != nil {
		next = "next " + *e.NextTask
	}
	s := inStep(e.Step, Routine, "done, %s", next)
	if e.Warning != "" {
		s.More = append(s.More, inStep(e.Step, Warning, "%s", e.Warning))
	}
	if len(e.Dropped) > 0 {
		s.More = append(s.More, inStep(e.Step, Warning, "the Manager took off the list undone: %s",
			strings.Join(e.Dropped, ", ")))
	}
	return s
}

// Rename is another name of a task on the list.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// StepAbandoned closes a step that no longer fits the board, because a person changed the board
// between two runs.
type StepAbandoned struct {
	Step   int    `json:"step"`
	Task   string `json:"task"`
	Reason string `json:"reason" text:"free"`
}

func (StepAbandoned) Kind() string { return "STEP_ABANDONED" }

func (e StepAbandoned) Subject() string { return e.Task }

// Sentence implements [Event].
func (e StepAbandoned) Sentence() Sentence {
	return inStep(e.Step, Warning, "given up, %s", e.Reason)
}

// Leaving is the state of the work at the end of a step, if the next task was worked on lately.
type Leaving struct {
	Other   bool   `json:"other,omitempty"` // the next task is not the step's
	Tree    string `json:"tree,omitempty"`
	Finding string `json:"finding,omitempty"`          // hash of the agent's message and log, see [FindingOf]
	Said    string `json:"said,omitempty" text:"free"` // the agent's message
}
