package flow

import "strings"

// Substitutes are the agents that take a role's work over, one after the other, when its own has
// come to nothing: seed 002, "Reassignment Readiness". Each is an adapter or another role.
type Substitutes struct {
	Role   string   `json:"role"` // in lower case
	Agents []string `json:"agents"`
}

// Reassign gives the open call to the next agent.
type Reassign struct {
	Step   int
	Number int // of the agent among the substitutes, from 1
	To     string
	Reason string
}

func (Reassign) effect() {}

// Reassigned says that another agent takes the open call over, with the same input.
type Reassigned struct {
	Step   int    `json:"step"`
	Task   string `json:"task"`
	Role   string `json:"role"`
	Call   Call   `json:"call"`
	Number int    `json:"number"`
	To     string `json:"to" text:"free"`
	Reason string `json:"reason" text:"free"`
}

// ReassignProposed says that a person may give the task to another agent: there is none in the
// settings, or none that is left.
type ReassignProposed struct {
	Step     int      `json:"step"`
	Task     string   `json:"task"`
	Role     string   `json:"role"`
	Evidence string   `json:"evidence" text:"free"`
	Strategy Strategy `json:"strategy"`
}

// Strategy is how work may be reassigned: seed 002, "Reassignment Readiness", action 2.
type Strategy string

// The strategies.
const (
	Replace    Strategy = "same role replacement"
	SplitTask  Strategy = "split task"
	Specialist Strategy = "specialist routing"
)

// Kind is the record's type in the journal.
func (Reassigned) Kind() string { return "REASSIGNED" }

// Kind is the record's type in the journal.
func (ReassignProposed) Kind() string { return "REASSIGN_PROPOSAL" }

// Subject is the task.
func (e Reassigned) Subject() string { return e.Task }

// Subject is the task.
func (e ReassignProposed) Subject() string { return e.Task }

// substitute is the next agent for the open call; 0: there is none. Work under review stays with
// its own agent, in whose session it is.
func (s *State) substitute() (number int, to string) {
	step := s.Step
	if step.Call != ManagerCall && (step.Call != TaskCall || step.Work != nil) {
		return 0, ""
	}
	if agents := s.substitutes(step.CallRole()); step.Agent < len(agents) {
		return step.Agent + 1, agents[step.Agent]
	}
	return 0, ""
}

func (s *State) substitutes(role string) []string {
	for _, r := range s.Reassign {
		if strings.EqualFold(r.Role, role) {
			return r.Agents
		}
	}
	return nil
}

// Substitute is the agent that plays the open call in place of its role's own; "": that does.
func (s *State) Substitute() string {
	if s.Step == nil || s.Step.Agent == 0 {
		return ""
	}
	if agents := s.substitutes(s.Step.CallRole()); s.Step.Agent <= len(agents) {
		return agents[s.Step.Agent-1]
	}
	return ""
}

// handOver gives an open call that came to nothing to the next agent, or
// ends the run with a proposal.
func (s *State) handOver(end Finish, reason string) Effect {
	if number, to := s.substitute(); number > 0 && end.Outcome != Frozen {
		return Reassign{Step: s.Step.Number, Number: number, To: to, Reason: reason}
	}
	return end
}

func (e Reassigned) apply(s *State) error {
	step := s.Step
	if step == nil || step.Number != e.Step || step.Running != 0 || step.Reply != nil || step.Call != e.Call {
		return refuse(e, "step %d has no call that could be given to another agent", e.Step)
	}
	if step.Advice != "" { // it got an input of its own
		step.Input, step.Stored = nil, ""
	}
	step.Agent, step.GoesOn, step.Unsettled, step.Disagreed = e.Number, nil, "", false
	step.Rejected, step.Lost, step.Restarts, step.LastHung, step.Advice = 0, 0, 0, "", ""
	return nil
}

func (ReassignProposed) apply(*State) error { return nil }

// Proposal is what a person may do with the open call that ended a run; nil:
// nothing but what its text says.
func (s *State) Proposal(end Finish) *ReassignProposed {
	step := s.Step
	if step == nil || step.Checkpoint != nil || step.Call.IsSupervision() || end.Outcome != Exhausted && !step.isStuck() {
		return nil
	}
	p := &ReassignProposed{Step: step.Number, Task: step.Task, Role: step.CallRole(), Evidence: end.Text, Strategy: Replace}
	switch {
	case s.ReplannedTimes(step.Task) > 0:
		p.Strategy = SplitTask
	case strings.HasPrefix(step.Unsettled, stuckPrefix+"TOOL_UNAVAILABLE"):
		p.Strategy = Specialist // one whose program has the tool
	}
	return p
}
