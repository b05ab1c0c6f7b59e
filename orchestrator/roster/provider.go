package roster

import (
	"slices"
	"strings"
)

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
