package event

import "cmp"

// Call names a kind of call of a step. Each attempt of a call starts one program.
type Call string

// The kinds of call. A task call and its reviews take turns until every review accepts the work.
// Then the Manager is called.
const (
	TaskCall    Call = "task"
	CommandCall Call = "command" // a command reviews the work, before any ReviewCall
	ReviewCall  Call = "review"  // a supervisor reviews the work (seed 003)
	ManagerCall Call = "manager"

	ReadyCall      Call = "ready"      // the supervisor reads the journal (seed 001, "Init Phase")
	CheckpointCall Call = "checkpoint" // the supervisor looks at the board (seed 001, "Wake Cycle")

	// JudgeCall is the call of an agent that judges a hung agent (seed 000). It is no call of a step:
	// it is made while the attempt of another call runs.
	JudgeCall Call = "judge"
)

// Part is the part that a call has in the work on a board, in one word.
type Part string

// The parts.
const (
	Work       Part = "work"
	Review     Part = "review"
	Management Part = "manager"
	Oversight  Part = "checkpoint"
	Judgement  Part = "judge"
)

var parts = map[Call]Part{
	TaskCall:       Work,
	CommandCall:    Review,
	ReviewCall:     Review,
	ManagerCall:    Management,
	ReadyCall:      Oversight,
	CheckpointCall: Oversight,
	JudgeCall:      Judgement,
}

// Part returns the part of the call. An unknown call counts as work.
func (c Call) Part() Part { return cmp.Or(parts[c], Work) }

// IsSupervision reports whether the resident supervisor plays the call.
func (c Call) IsSupervision() bool { return c.Part() == Oversight }

// IsOfTask reports whether the call is the work on a task, or a review of it.
func (c Call) IsOfTask() bool { return c != ManagerCall && !c.IsSupervision() }

// IsReview reports whether the call looks at the work of a task call.
func (c Call) IsReview() bool { return c.Part() == Review }

// Player returns in words the agent or command that makes the call. The parameter "role" is the
// role of the step.
func (c Call) Player(role string) string {
	switch c {
	case CommandCall:
		return "the review command of " + role
	case ReviewCall:
		return "the reviewer of " + role
	case ManagerCall:
		return ManagerRole
	default:
		return role
	}
}

// Of returns in words what the call does with a task.
func (c Call) Of(task string) string {
	switch {
	case c == ManagerCall:
		return "done: " + task
	case c.IsReview():
		return "review of " + task
	default:
		return task
	}
}

// Plan is the way in which the work of a task is reviewed.
type Plan struct {
	// Agent reports that an agent reviews the work, in a fork of the session in which the work was
	// done.
	Agent   bool `json:"agent"`
	Rounds  int  `json:"rounds"`            // greatest number of times that the work is sent back
	Command bool `json:"command,omitempty"` // a command reviews the work, before the agent does
}

// After returns the next review of the work after call c. It returns "" if no review is left, so
// that the Manager is next.
func (p *Plan) After(c Call) Call {
	switch {
	case c == TaskCall && p.Command:
		return CommandCall
	case c != ReviewCall && p.Agent:
		return ReviewCall
	default:
		return ""
	}
}
