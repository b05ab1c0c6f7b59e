package roster

import (
	"maps"
	"slices"

	"kanban-run/orchestrator/agent"
)

// Installed is an adapter for one certain program, and the path of this program.
type Installed struct {
	Agent   string // name of the adapter
	Path    string // of the program; "" if it is not installed
	Install string // the command that installs it
}

// FindInstalled returns the adapters for one certain program that can be installed, sorted by name.
func FindInstalled() (all []Installed) {
	known := adapters("")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		tool := known[name].Tool()
		if tool.Program == "" || tool.Install == "" {
			continue
		}
		path, _ := agent.LookPath(tool.Program, "") // an error means that it is not installed
		all = append(all, Installed{name, path, tool.Install})
	}
	return all
}
