package roster

import (
	"maps"
	"slices"

	"kanban-run/orchestrator/agent"
)

// Installable is an adapter for one specific program, and the path of that program.
type Installable struct {
	Agent   string // name of the adapter
	Path    string // path of the program; "": it is not installed
	Install string // the command that installs it
}

// FindInstallable returns the adapters that need one specific program with a known install command,
// sorted by name. It includes those whose program is not installed.
func FindInstallable() (all []Installable) {
	known := adapters("")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		tool := known[name].Tool()
		if tool.Program == "" || tool.Install == "" {
			continue
		}
		path, _ := agent.LookPath(tool.Program, "") // an error means that it is not installed
		all = append(all, Installable{name, path, tool.Install})
	}
	return all
}
