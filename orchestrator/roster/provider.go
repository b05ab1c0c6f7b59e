package roster

import (
	"slices"
	"strings"
)

// Provider names the provider that serves the player's calls: players with the same name share its limits. It
// is made of the adapter, the command of an agent that may be any program, the base addresses in the
// environment, and the names of the keys there.
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
