package config

import (
	"strings"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/option"
)

// reassign reads the agents that take over a role's work, in their order. Each agent is an adapter
// or another role.
func (f *settingsFile) reassign(value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		f.Fail(value, "write reassign: {Implementor: [codex]}", "reassign must be a map of roles to agents")
		return
	}
	var all []event.Substitutes
	var shown []string
	for key, list := range option.Fields(value) {
		if f.knownRole != nil && !f.knownRole(roleKey(key.Value)) {
			f.Fail(key, "name a role that kanban-run roles lists", "reassign: unknown role %q", key.Value)
			return
		}
		agents := f.agents("reassign."+roleKey(key.Value), list)
		all = append(all, event.Substitutes{Role: roleKey(key.Value), Agents: agents})
		shown = append(shown, key.Value+": "+strings.Join(agents, " "))
	}
	f.add(value, given{name: "reassign", value: strings.Join(shown, ", "), parsed: all})
}

// agents reads one agent or a list of agents, and marks the place of each with the name and a dot
// before it. For any other value it notes an error.
func (f *settingsFile) agents(name string, list *yaml.Node) (names []string) {
	items := list.Content
	if list.Kind == yaml.ScalarNode {
		items = []*yaml.Node{list}
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.Value == "" {
			f.Fail(item, "name adapters or roles", "reassign must be a map of roles to agents")
			return nil
		}
		names = append(names, item.Value)
		f.mark(name+"."+item.Value, item)
	}
	return names
}
