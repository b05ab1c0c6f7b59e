package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/roster"
	"kanban-run/schema"
)

//go:embed all:start
var startFiles embed.FS

func initCommand() command {
	return command{
		name: "init", args: "[DIR]", summary: "a board and a task to start from",
		long: `
Writes kanban.yaml, a first task, .kanban-run.yaml and an example of a role of your own into DIR (default: here). The settings name the
agent that is installed; without one an example of an agent plays the roles, so that the board runs at once. Nothing that exists is touched.`,
		setup: func(*pflag.FlagSet) func(*terminal, []string) (int, error) {
			return func(t *terminal, args []string) (int, error) {
				dir := "."
				switch {
				case len(args) == 1:
					dir = args[0]
				case len(args) > 1:
					return 0, &usageError{text: "init takes one folder", hint: "kanban-run init demo"}
				}
				return exitComplete, writeStart(t, dir)
			}
		},
	}
}

// writeStart writes the start files into dir. It looks at all names before it writes: a file that
// exists leaves the folder as it is, but for .gitignore, which is yours.
func writeStart(t *terminal, dir string) error {
	files, said, err := filesToStart()
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if path := filepath.Join(dir, name); exists(path) && name != ".gitignore" {
			return &usageError{text: path + " exists already", hint: "kanban-run init DIR starts in a folder of its own"}
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if exists(path) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		mode := fs.FileMode(0o644)
		if filepath.Ext(name) == ".sh" {
			mode = 0o755
		}
		if err := os.WriteFile(path, files[name], mode); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		if err := t.stdout.Printf("wrote %s\n", path); err != nil {
			return err
		}
	}
	where := ""
	if dir != "." {
		where = "cd " + report.Quote(dir) + "\n  "
	}
	return t.stdout.Printf("\n%s\n\nnext:\n  %skanban-run --dry-run   tries the board with stub agents, and changes nothing\n  kanban-run             runs it\n  kanban-run view        shows it in a browser\n",
		console.Lines(said), console.Lines(where))
}

// filesToStart are the start files by their names in the folder, with settings for the agents that
// are installed, and what is said about these.
func filesToStart() (files map[string][]byte, said string, err error) {
	files = map[string][]byte{}
	player, others, said := installedAgents()
	err = fs.WalkDir(startFiles, "start", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel := strings.TrimPrefix(name, "start/")
		if player != "" && path.Dir(rel) == "agents" {
			return nil // none is needed
		}
		files[filepath.FromSlash(rel)], err = startFiles.ReadFile(name)
		return err
	})
	for _, name := range []string{"kanban", "settings"} {
		source, sourceErr := schema.Source(name)
		err = errors.Join(err, sourceErr)
		files[filepath.Join(".kanban-run", "schema", name+".schema.json")] = source
	}
	files[".kanban-run.yaml"] = []byte(startSettings(player, others))
	return files, said, err
}

// installedAgents is the agent that is to play all roles, "" where none is installed,
// and the others that could.
func installedAgents() (player string, others []string, said string) {
	var missing []string
	for _, a := range roster.FindInstalled() {
		switch {
		case a.Path == "":
			missing = append(missing, fmt.Sprintf("  %-9s %s", a.Agent, a.Install))
		case player == "":
			player = a.Agent
		default:
			others = append(others, a.Agent)
		}
	}
	if player == "" {
		return "", nil, "No agent that asks a model is installed here, so agents/agent.sh plays the roles: it does nothing, and shows how an agent speaks.\n" +
			"Install one, and name it in .kanban-run.yaml:\n" + strings.Join(missing, "\n")
	}
	said = player + " is installed, and plays all roles (.kanban-run.yaml)"
	if len(others) > 0 {
		said += "; " + strings.Join(others, " and ") + " could, too"
	}
	return player, others, said + "."
}

// startSettings are the settings of a folder in which an agent plays all roles.
func startSettings(player string, others []string) string {
	text := `# yaml-language-server: $schema=.kanban-run/schema/settings.schema.json
# Settings of kanban-run for this folder; kanban-run config prints all of them and where each came from.

`
	if player == "" {
		text += `# No agent that asks a model was installed when this was written. With one: agent: claude, in place of the two lines.
agent: {default: exec, Manager: walk} # walk names the next task of the list, without a model
exec: sh agents/agent.sh
`
	} else {
		text += "# What plays the roles. A map gives each its own: {default: " + player + ", Manager: walk}; walk names the next task of the list, without a model.\n"
		if len(others) > 0 {
			text += "# " + strings.Join(others, " and ") + " could play them, too.\n"
		}
		text += "agent: " + player + "\n"
	}
	return text + `
timeout: 1h    # of one attempt of an agent
max_retries: 3 # after a reply that has not the right format
# max_cost: 5.00           # US dollars of a run; it stops before an attempt that would begin above that
# checkpoints: {every: 5}  # a supervisor looks in: docs/checkpoints.md
`
}
