package event

import (
	"cmp"
	"fmt"
)

// DuplicateTask is a task on which another run is at work: seed 002, "Duplicate / Overlap Work". If
// the other run is in the same process, this run waits for the end of the other. Otherwise this run
// ends.
type DuplicateTask struct {
	Task  string `json:"task" text:"name"`
	Owner string `json:"owner"` // board whose run is at work on the task; "" if unknown
}

func (DuplicateTask) Kind() string { return "DUPLICATE_TASK_KEY" }

// Subject returns the task.
func (e DuplicateTask) Subject() string { return e.Task }

func (e DuplicateTask) Sentence() Sentence {
	text := fmt.Sprintf("%s is worked on by the run of %s",
		e.Task, cmp.Or(e.Owner, "another board"))
	return say(Warning, text).tell(Team, "").alert(AlertWarning, e.Kind(), e.Owner)
}

// BlockedBy returns in words the wait for the other run, such as "waits for the run of a.yaml,
// which works on a.md".
func (e DuplicateTask) BlockedBy() string {
	return fmt.Sprintf("waits for the run of %s, which works on %s", cmp.Or(e.Owner, "another board"), e.Task)
}

// ScopeOverlaps reports that a step of another board works on files of this task, too.
type ScopeOverlaps struct {
	Task      string   `json:"task" text:"name"`
	Owner     string   `json:"owner"`      // the other board
	OwnerTask string   `json:"owner_task"` // the task of the other board
	Files     []string `json:"files"`      // two overlapping patterns, one of each task
	Waits     bool     `json:"waits"`      // this run waits until the other step ends
}

func (ScopeOverlaps) Kind() string { return "OVERLAP_SCOPE" }

// Subject returns the task.
func (e ScopeOverlaps) Subject() string { return e.Task }

func (e ScopeOverlaps) Sentence() Sentence {
	text := fmt.Sprintf("%s changes %s, and so does the work on %s of %s",
		e.Task, List(e.Files, mostNamed), e.OwnerTask, e.Owner)
	if e.Waits {
		text += ": it waits for the end of that step"
	}
	return say(Warning, text).tell(Team, "").alert(AlertInfo, e.Kind(), e.Owner)
}

// BlockedBy returns in words the wait for the other step, such as "waits for a.md of a.yaml, which
// changes the same files". It returns "" if the run does not wait.
func (e ScopeOverlaps) BlockedBy() string {
	if !e.Waits {
		return ""
	}
	return fmt.Sprintf("waits for %s of %s, which changes the same files", e.OwnerTask, e.Owner)
}

// MarkerMissing reports a DECISIONS.md without the sections for entries: seed 002, "Bounded
// DECISIONS Contribution Rule". The event changes no state.
type MarkerMissing struct {
	Board string `json:"board"`
	Text  string `json:"text"`
}

func (MarkerMissing) Kind() string { return "DECISIONS_MARKER_MISSING" }

// Subject returns the board.
func (e MarkerMissing) Subject() string { return e.Board }

func (e MarkerMissing) Sentence() Sentence {
	return say(Warning, e.Text).alert(AlertWarning, e.Kind(), "")
}

// DecisionsViolated reports that an entry outside of its section was removed from DECISIONS.md. The
// event changes no state.
type DecisionsViolated struct {
	Board string `json:"board"`
	Text  string `json:"text"`
}

func (DecisionsViolated) Kind() string { return "DECISIONS_SCOPE_VIOLATION" }

// Subject returns the board.
func (e DecisionsViolated) Subject() string { return e.Board }

func (e DecisionsViolated) Sentence() Sentence {
	return say(Critical, e.Text).alert(AlertCritical, e.Kind(), "", escalate)
}
