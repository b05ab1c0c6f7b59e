package config

import (
	"maps"
	"slices"
)

// choice is the agent that the sources choose for one role, or for every role.
type choice struct{ agent, exec *given }

// choices has the choice for each role, by the role's name in lower case. The key "" has the choice
// for every role.
type choices map[string]choice

// takesCommand reports whether an adapter has no program of its own, and starts the command that is
// given beside it.
func takesCommand(adapter string) bool { return adapter == execAgent || adapter == acpAgent }

// asksForCommand reports whether the choice is "exec" or "acp" without a command, as with
// `--agent exec` alone. Such a choice takes the command of a weaker source, see commandFor.
func (c choice) asksForCommand() bool {
	return c.exec == nil && c.agent != nil && takesCommand(c.agent.value)
}

// commandFor returns the command of c if it is one for the adapter, and nil otherwise. A command
// without an adapter is one for "exec".
func (c choice) commandFor(adapter string) *given {
	own := execAgent
	if c.agent != nil {
		own = c.agent.value
	}
	if own != adapter {
		return nil
	}
	return c.exec
}

// refuseContradiction returns an error if one source gives both an adapter and a command for one
// role, because one of the two would be silently ignored.
func (c choices) refuseContradiction() error {
	for _, role := range slices.Sorted(maps.Keys(c)) {
		if one := c[role]; one.agent != nil && one.exec != nil && !takesCommand(one.agent.value) {
			return one.exec.errorAt("contradicts "+one.agent.name+" "+one.agent.value,
				"give either an adapter or a command, not both, for the same role")
		}
	}
	return nil
}

// overlay returns c with the choices of a stronger source in place of its own. The stronger choice
// for every role replaces only the choice for every role: a role's own choice stays, whichever
// source made it. A choice "exec" or "acp" without a command keeps the command of c.
func (c choices) overlay(stronger choices) choices {
	result := choices{}
	_, hasGeneral := stronger[""]
	for role, weak := range c {
		if hasGeneral && weak.asksForCommand() {
			weak.exec = c[""].commandFor(weak.agent.value) // the command that the role's own choice was made for
		}
		result[role] = weak
	}
	for role, strong := range stronger {
		if strong.asksForCommand() {
			strong.exec = c[role].commandFor(strong.agent.value)
		}
		result[role] = strong
	}
	return result
}

func (c choices) store(s *Settings) {
	for name, g := range c.sources() {
		s.places[name] = *g
	}
	s.Agents, s.Execs, s.ExecDirs = map[string]string{}, map[string]string{}, map[string]string{}
	for role, one := range c {
		if one.agent != nil && role == "" {
			s.Agent = one.agent.value
		} else if one.agent != nil {
			s.Agents[role] = one.agent.value
		}
		if one.exec != nil && role == "" {
			s.Exec, s.ExecDir = one.exec.value, one.exec.dir
		} else if one.exec != nil {
			s.Execs[role], s.ExecDirs[role] = one.exec.value, one.exec.dir
		}
	}
}

func (c choices) roleNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c)), func(role string) bool { return role == "" })
}

// sources returns the values by name: "exec" is for every role, "exec.manager" for one role.
func (c choices) sources() map[string]*given {
	all := map[string]*given{}
	for role, one := range c {
		for _, g := range []*given{one.agent, one.exec} {
			if g == nil {
				continue
			}
			name := g.name
			if role != "" {
				name += "." + role
			}
			all[name] = g
		}
	}
	return all
}
