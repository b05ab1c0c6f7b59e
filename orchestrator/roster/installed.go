package roster

import (
	"maps"
	"slices"

	"kanban-run/orchestrator/agent"
)

// Installed is an adapter for one specific program, and the path of that program.
type Installed struct {
	Agent   string // name of the adapter
	Path    string // path of the program; "": it is not installed
	Install string // the command that installs it
}

// FindInstalled returns the adapters that need one specific program with a known install command,
// sorted by name. It includes those whose program is not installed.
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
