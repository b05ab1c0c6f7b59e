package event

import (
	"cmp"
	"fmt"
	"strings"
)

// DuplicateTask is a task on which another run is at work: seed 002, "Duplicate / Overlap Work". If
// the other run is in the same process, this run waits for the end of the other. Otherwise this run
// ends.
type DuplicateTask struct {
	Task  string `json:"task"`
	Owner string `json:"owner"` // board whose run is at work on the task; "" if unknown
}

// Kind implements [Event].
func (DuplicateTask) Kind() string { return "DUPLICATE_TASK_KEY" }

// Subject returns the task.
func (e DuplicateTask) Subject() string { return e.Task }

// Sentence implements [Event].
func (e DuplicateTask) Sentence() Sentence {
	text := fmt.Sprintf("DUPLICATE_TASK_KEY: %s is worked on by the run of %s",
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
	Task      string   `json:"task"`
	Owner     string   `json:"owner"`                  // the other board
	OwnerTask string   `json:"owner_task" text:"free"` // the task of the other board
	Files     []string `json:"files" text:"free"`      // two overlapping patterns, one of each task
	Waits     bool     `json:"waits"`                  // this run waits until the other step ends
}

// Kind implements [Event].
func (ScopeOverlaps) Kind() string { return "OVERLAP_SCOPE" }

// Subject returns the task.
func (e ScopeOverlaps) Subject() string { return e.Task }

// Sentence implements [Event].
func (e ScopeOverlaps) Sentence() Sentence {
	text := fmt.Sprintf("OVERLAP_SCOPE: %s changes %s, and so does the work on %s of %s",
		e.Task, strings.Join(e.Files, " and "), e.OwnerTask, e.Owner)
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
	Board string `json:"board" text:"free"`
	Text  string `json:"text" text:"free"`
}

// Kind implements [Event].
func (MarkerMissing) Kind() string { return "DECISIONS_MARKER_MISSING" }

// Subject returns the board.
func (e MarkerMissing) Subject() string { return e.Board }

// Sentence implements [Event].
func (e MarkerMissing) Sentence() Sentence {
	return say(Warning, e.Text).alert(AlertWarning, e.Kind(), "")
}

// DecisionsViolated reports that an entry outside of its section was removed from DECISIONS.md. The
// event changes no state.
type DecisionsViolated struct {
	Board string `json:"board" text:"free"`
	Text  string `json:"text" text:"free"`
}

// Kind implements [Event].
func (DecisionsViolated) Kind() string { return "DECISIONS_SCOPE_VIOLATION" }

// Subject returns the board.
func (e DecisionsViolated) Subject() string { return e.Board }

// Sentence implements [Event].
func (e DecisionsViolated) Sentence() Sentence {
	return say(Critical, e.Text).alert(AlertCritical, e.Kind(), "", escalate)
}

// Substitutes are the agents that take over a role's work, in this order, when the role's own agent
// has failed: seed 002, "Reassignment Readiness". Each is an adapter or another role.
type Substitutes struct {
	Role   string   `json:"role"` // in lower case
	Agents []string `json:"agents"`
}

// Reassigned gives the open call to another agent, with the same input.
type Reassigned struct {
	Step   int    `json:"step"`
	Task   string `json:"task"`
	Role   string `json:"role"`
	Call   Call   `json:"call"`
	Number int    `json:"number"`
	To     string `json:"to" text:"free"`
	Reason string `json:"reason" text:"free"`
}

// Kind implements [Event].
func (Reassigned) Kind() string { return "REASSIGNED" }

// Subject returns the task.
func (e Reassigned) Subject() string { return e.Task }

// Sentence implements [Event].
func (e Reassigned) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s takes the work of %s over, with the same input: %s",
		e.To, e.Role, Brief(OneLine(e.Reason))).tell(Team, "")
}

// ReassignProposed asks a person to give the task to another agent, because the settings name no
// substitute, or all substitutes were tried.
type ReassignProposed struct {
	Step     int      `json:"step"`
	Task     string   `json:"task"`
	Role     string   `json:"role"`
	Evidence string   `json:"evidence" text:"free"`
	Strategy Strategy `json:"strategy"`
}

// Kind implements [Event].
func (ReassignProposed) Kind() string { return "REASSIGN_PROPOSAL" }

// Subject returns the task.
func (e ReassignProposed) Subject() string { return e.Task }

// Sentence implements [Event].
func (e ReassignProposed) Sentence() Sentence {
	return inStep(e.Step, Warning,
		"REASSIGN_PROPOSAL: %s for %s (%s); reassign in .kanban-run.yaml names agents that take over",
		e.Strategy, e.Task, e.Role).tell(Lead|Team, "").did(e.Kind())
}

// Strategy is a way to reassign work: seed 002, "Reassignment Readiness", action 2.
type Strategy string

// The strategies.
const (
	Replace    Strategy = "same role replacement"
	SplitTask  Strategy = "split task"
	Specialist Strategy = "specialist routing"
)
