package roster

import (
	"maps"
	"slices"

	"kanban-run/orchestrator/agent"
)

// Installed is an agent with a program of its own, and the program's place.
type Installed struct {
	Agent   string // name of the adapter
	Path    string // "" if it is not installed
	Install string // the command that installs it
}

// FindInstalled lists the agents that are programs of their own, by name.
func FindInstalled() (all []Installed) {
	known := adapters("")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		tool := known[name].Tool()
		if tool.Program == "" || tool.Install == "" {
			continue
		}
		path, _ := agent.LookPath(tool.Program, "") // as not there
		all = append(all, Installed{name, path, tool.Install})
	}
	return all
}
