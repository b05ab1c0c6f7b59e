package roster

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
)

// Model returns the model that the player asks for. Players of one provider with the same model
// share the allowance of that model.
func (p *Player) Model() string { return cmp.Or(p.Assignment.Model, event.DefaultModel) }

// Refused returns the refusal of a call of the player. The parameter later is the provider's answer,
// or nil if it is not known.
func (p *Player) Refused(later *agent.LaterError, now time.Time) *event.Refusal {
	refusal := &event.Refusal{Provider: p.Adapter.Name(), At: now}
	if later == nil {
		return refusal
	}
	refusal.Reset = later.Reset
	if later.Model {
		refusal.Model = p.Model()
	}
	return refusal
}

// Provider returns a name for the provider that serves the player's calls. Players with the same
// name share the provider's limits. The name consists of the adapter's name, the program of the
// role's command, the environment variables that hold a base address, and the names of the
// environment variables that hold a key of the tool.
func (p *Player) Provider() string {
	parts := []string{p.Adapter.Name()}
	if command := p.Assignment.Command; len(command) > 0 {
		parts = append(parts, command[0])
	}
	for _, entry := range p.Assignment.Env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "":
		case strings.HasSuffix(name, "_BASE_URL"):
			parts = append(parts, entry)
		case slices.Contains(p.Adapter.Tool().Keys, name):
			parts = append(parts, name)
		}
	}
	slices.Sort(parts[1:])
	return strings.Join(parts, " ")
}
