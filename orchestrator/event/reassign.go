package event

// Substitutes are the agents that take over a role's work, in this order, when the role's own agent
// has failed: seed 002, "Reassignment Readiness". Each is an adapter or another role.
type Substitutes struct {
	Role   string   `json:"role" text:"fact"` // in lower case
	Agents []string `json:"agents" text:"fact"`
}

// Reassigned gives the open call to another agent, with the same input.
type Reassigned struct {
	Step   int    `json:"step"`
	Task   string `json:"task" text:"name"`
	Role   string `json:"role" text:"fact"`
	Call   Call   `json:"call"`
	Number int    `json:"number"`
	To     string `json:"to"` // the adapter or role that takes over
	Reason string `json:"reason"`
}

func (Reassigned) Kind() string { return "REASSIGNED" }

// Subject returns the task.
func (e Reassigned) Subject() string { return e.Task }

func (e Reassigned) Sentence() Sentence {
	return inStep(e.Step, Warning, "%s takes the work of %s over, with the same input: %s",
		e.To, e.Role, Brief(OneLine(e.Reason))).tell(Team, "")
}

// ReassignProposed asks a person to give the task to another agent, because the settings name no
// substitute, or all substitutes were tried.
type ReassignProposed struct {
	Step     int      `json:"step"`
	Task     string   `json:"task" text:"name"`
	Role     string   `json:"role" text:"fact"`
	Evidence string   `json:"evidence"`
	Strategy Strategy `json:"strategy"`
}

func (ReassignProposed) Kind() string { return "REASSIGN_PROPOSAL" }

// Subject returns the task.
func (e ReassignProposed) Subject() string { return e.Task }

func (e ReassignProposed) Sentence() Sentence {
	return inStep(e.Step, Warning,
		"proposed: another agent than %s for %s (%s); reassign in .kanban-run.yaml names agents that take over",
		e.Role, e.Task, e.Strategy).tell(Lead|Team, "").did(e.Kind())
}

// Strategy is a way to reassign work: seed 002, "Reassignment Readiness", action 2.
type Strategy string

// The strategies.
const (
	Replace    Strategy = "same role replacement"
	SplitTask  Strategy = "split task"
	Specialist Strategy = "specialist routing"
)
