package event

import (
	"cmp"
	"strings"
)

// StepStarted opens a step, in which a role gets a task.
type StepStarted struct {
	Step     int    `json:"step"`
	Task     string `json:"task" text:"name"`
	Role     string `json:"role" text:"fact"`
	BoardSHA string `json:"board_sha256" text:"fact"`
	Index    int    `json:"index"` // place of the task on the list, from 1; 0 if it is not listed
	Of       int    `json:"of"`
	// Mark is the mark of the step's processes. After a crash the next run finds the processes by
	// their mark.
	Mark string `json:"mark,omitempty" text:"fact"`
	// Path is Task as a clean path, such as tasks/1.md for ./tasks/1.md; "" if they are equal.
	Path string `json:"path,omitempty" text:"name"`

	// Call is the first call of a supervisor's step; "" in any other step.
	Call Call `json:"call,omitempty"`
	// Checkpoint is the checkpoint of a supervisor's step; nil if the supervisor only gets ready.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
}

func (StepStarted) Kind() string { return "STEP_STARTED" }

func (e StepStarted) Subject() string { return e.Task }

func (e StepStarted) Sentence() Sentence {
	switch {
	case !e.Call.IsSupervision():
		return inStep(e.Step, Routine, "%s to %s%s", e.Task, e.Role, placeSuffix(e.Index, e.Of)).at(OpensStep)
	case e.Checkpoint == nil:
		return inStep(e.Step, Routine, "%s gets ready", e.Role).at(OpensStep)
	default:
		return inStep(e.Step, Routine, "%s looks at %s: %s",
			e.Role, e.Checkpoint.ID, List(e.Checkpoint.Scope, mostNamed)).at(OpensStep)
	}
}

// CallRestarted starts the open call afresh, on the board as it is now.
type CallRestarted struct {
	Step     int    `json:"step"`
	Task     string `json:"task" text:"name"`
	BoardSHA string `json:"board_sha256" text:"fact"`
	Reason   string `json:"reason"`
}

func (CallRestarted) Kind() string { return "CALL_RESTARTED" }

func (e CallRestarted) Subject() string { return e.Task }

func (e CallRestarted) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s; the call starts afresh", e.Reason)
}

// StepFinished closes a step, after the Manager's decision is on the board.
type StepFinished struct {
	Step     int     `json:"step"`
	Task     string  `json:"task" text:"name"`
	Role     string  `json:"role" text:"fact"`
	Status   string  `json:"status" text:"fact"`       // status of the task agent's reply
	Manager  string  `json:"manager" text:"fact"`      // status of the Manager's reply
	Message  string  `json:"message"`                  // message of the Manager's reply
	NextTask *string `json:"next_task" text:"name"`    // nil if the Manager named no next task
	BoardSHA string  `json:"board_sha256" text:"fact"` // SHA-256 of the board at the end of the step
	// Warning is a notice about the Manager's decision: the board differs from the reply (then the
	// board counts), or the next task needs undone tasks. It is "" if there is nothing to tell.
	Warning string `json:"warning,omitempty"`
	Millis  int64  `json:"millis"` // ms from the start of the step to its end

	// Checkpoint is the ID of the checkpoint after which the Manager was called; "" after a task.
	Checkpoint string `json:"checkpoint,omitempty" text:"name"`

	// Dropped are the tasks that the Manager took off the list undone.
	Dropped []string `json:"dropped,omitempty"`
	Renamed []Rename `json:"renamed,omitempty"` // tasks that the Manager renamed
	// Leaving is set only if this run has already worked on the task that is next.
	Leaving     *Leaving   `json:"leaving,omitempty"`
	Quarantined []TaskFile `json:"quarantined,omitempty"` // the files of the tasks in quarantine
}

func (StepFinished) Kind() string { return "STEP_FINISHED" }

func (e StepFinished) Subject() string { return e.Task }

func (e StepFinished) Sentence() Sentence {
	next := "nothing is next"
	if e.Next() != "" {
		next = "next " + e.Next()
	}
	s := inStep(e.Step, Routine, "%s, %s", cmp.Or(e.Ended(), "done"), next).at(ClosesStep)
	if e.Manager == "ok" {
		s.Result = e.Status
	}
	if e.Warning != "" {
		s.More = append(s.More, inStep(e.Step, Warning, "%s", e.Warning))
	}
	if len(e.Dropped) > 0 {
		s.More = append(s.More, inStep(e.Step, Warning, "taken off the list undone while the Manager was at work: %s",
			List(e.Dropped, mostNamed)))
	}
	return s
}

// Next returns the task that is next, or "" if the Manager named none.
func (e StepFinished) Next() string {
	if e.NextTask == nil {
		return ""
	}
	return *e.NextTask
}

// Ended returns in words how the step ended, or "" if the task and the Manager's reply are ok.
func (e StepFinished) Ended() string {
	ok := func(status string) bool { return status == "ok" || status == "" }
	status := strings.ReplaceAll(e.Status, "_", " ")
	said := e.Manager
	if e.Message != "" {
		said += ": " + Brief(e.Message)
	}
	switch {
	case ok(e.Manager) && ok(e.Status):
		return ""
	case ok(e.Manager) && status == "changed": // no agent was started
		return "set aside"
	case ok(e.Manager):
		return "ended " + status
	case e.Role == ManagerRole:
		return "ended " + said
	default:
		return "ended " + cmp.Or(status, "ok") + ", and the Manager said " + said
	}
}

// Rename is a new name of a task on the list.
type Rename struct {
	From string `json:"from" text:"name"` // the path before
	To   string `json:"to" text:"name"`   // the path now
}

// StepAbandoned closes a step that no longer fits the board, because a person changed the board
// between two runs.
type StepAbandoned struct {
	Step   int    `json:"step"`
	Task   string `json:"task" text:"name"`
	Reason string `json:"reason"`
	// Named is the current task of the changed board; "" if that is Task, or if the board is over.
	Named string `json:"named,omitempty"`
}

func (StepAbandoned) Kind() string { return "STEP_ABANDONED" }

func (e StepAbandoned) Subject() string { return e.Task }

func (e StepAbandoned) Sentence() Sentence {
	return inStep(e.Step, Warning, "given up, %s", e.Reason).at(LeavesStep)
}

// Leaving is the state of the work at the end of a step, for the search for loops.
type Leaving struct {
	Other bool   `json:"other,omitempty"`            // the next task is not the task of this step
	Tree  string `json:"tree,omitempty" text:"fact"` // hash of the work tree; "" if unknown
	// Finding is the hash of the agent's message and log (see [FindingOf]); "" if Tree is known or
	// Other is set.
	Finding string `json:"finding,omitempty" text:"fact"`
	Said    string `json:"said,omitempty"` // the agent's message
}
