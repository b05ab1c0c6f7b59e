package roster

import (
	"cmp"
	"time"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/health"
	"kanban-run/roles"
)

// Duty is the kind of an agent's work. The limits for an agent without progress depend on it.
type Duty int

// The duties of an agent.
const (
	Working     Duty = iota
	ReviewPhase      // work in a phase of the board in which an Architect reviews
	Reviewing        // a review of another agent's work; the run waits for its result
)

// Policy returns the policy by which the watch judges the player's agents.
func (p *Player) Policy(d Duty) health.Policy { return policy(p.watch, p.Role, d) }

// Judge returns the role that judges hung agents of the player, or "".
func (p *Player) Judge() string { return p.watch.Judge }

// PolicyFor returns the policy with a task's own settings applied. Errors: *frontmatter.Problem.
func (p *Player) PolicyFor(d Duty, task string, values []frontmatter.Value) (health.Policy, error) {
	w, err := p.watch.With(task, values)
	return policy(w, p.Role, d), err
}

func policy(w config.Watch, r roles.Role, d Duty) health.Policy {
	if !w.Enabled {
		return health.Policy{}
	}
	p := w.Policy
	p.Kill, p.Stages, p.ByClock = cmp.Or(p.Kill, 2*p.Graceful), stages(p.Stages, r, d), d == Reviewing
	return p
}

// stages returns the stages in the settings. If the settings have none, it returns the defaults for
// a review or for the kind of agent: reviewer, lead or coder. If the role does not name its kind, the
// Manager counts as a lead. An Architect counts as a reviewer in a ReviewPhase, and otherwise as a
// lead. Source: seed 002, "Use role-aware staged actions
// (defaults)".
func stages(s health.Stages, r roles.Role, d Duty) health.Stages {
	if s != nil {
		return s
	}
	kind := r.WatchAs
	switch {
	case d == Reviewing:
		return health.Stages{20 * time.Minute, 35 * time.Minute, 50 * time.Minute}
	case kind != "":
	case r.Name == "Architect" && d == ReviewPhase:
		kind = "reviewer"
	case r.Name == event.ManagerRole, r.Name == "Architect":
		kind = "lead"
	}
	switch kind {
	case "reviewer":
		return health.Stages{10 * time.Minute, 20 * time.Minute, 30 * time.Minute}
	case "lead":
		return health.Stages{12 * time.Minute, 25 * time.Minute, 40 * time.Minute}
	default:
		return health.Stages{15 * time.Minute, 45 * time.Minute, 60 * time.Minute}
	}
}
