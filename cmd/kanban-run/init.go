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
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/roster"
	"kanban-run/schema"
)

//go:embed all:start
var startFiles embed.FS

func initCommand() command {
	return command{
		name: "init", args: "[DIR]", summary: "a board and a task to start from",
		long: `
Writes kanban.yaml, a first task, .kanban-run.yaml and an example of a role of your own into DIR (default: here). The
settings name the agent that is installed for the work, and walk, a Manager without a model. Without an agent an
example stands in: it does nothing and replies blocked, so that a run ends with exit code 3 until you name one.
Nothing that exists is touched.

Where DIR has a go.mod, a package.json with a test script, a Cargo.toml, a pyproject.toml that names pytest, a Makefile
with the target test, or tests of Python's unittest, the Implementor's work is reviewed by those tests
(.kanban-run/roles/implementor.md). It says if it finds none.`,
		examples: `
  kanban-run init        a board in this folder
  kanban-run init demo   a board in a new folder`,
		setup: func(*pflag.FlagSet) func(*terminal, []string) (int, error) {
			return func(t *terminal, args []string) (int, error) {
				dir := "."
				if err := refuseAgents(false); err != nil {
					return 0, err
				}
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

// writeStart writes the start files into dir. If a file other than .gitignore exists already, it
// returns an error and writes no file. An existing .gitignore stays as it is.
func writeStart(t *terminal, dir string) error {
	files, said, err := filesToStart(dir)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if path := filepath.Join(dir, name); exists(path) && name != ".gitignore" {
			return &usageError{
				text: path + " exists already",
				hint: "kanban-run init DIR starts in a folder of its own",
			}
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
		where = "cd " + failure.Quote(dir) + "\n  "
	}
	return t.stdout.Printf("\n%s\n\nnext:\n  %skanban-run --dry-run   tries the board with stub agents, and "+
		"changes nothing\n  write what you want to have into tasks/1-describe-the-goal.md\n"+
		"  kanban-run             runs it\n  kanban-run view        shows it in a browser\n",
		console.Lines(said), console.Lines(where))
}

// filesToStart returns the start files by name, with settings for the installed agents and a review by the
// tests of the project in the folder, and the text about these.
func filesToStart(dir string) (files map[string][]byte, said string, err error) {
	files = map[string][]byte{}
	player, others, said := installedAgents()
	err = fs.WalkDir(startFiles, "start", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel := strings.TrimPrefix(name, "start/")
		if player != "" && path.Dir(rel) == "agents" {
			return nil // an agent is installed, so agents/agent.sh is not needed
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
	if command, because := findTests(dir); command != "" {
		role, roleErr := reviewedRole(command, because)
		err = errors.Join(err, roleErr)
		name := filepath.Join(".kanban-run", "roles", "implementor.md")
		files[name] = role
		said += "\nWork counts once `" + command + "` ends with 0 (" + because + " is here): " + name + " says so."
	} else {
		said += "\nNo tests were found here, so work counts once the agent says that it is done. review: {command: …} in a role " +
			"has a command accept it: kanban-run docs review."
	}
	return files, said, err
}

// installedAgents returns the installed agent that is to do the work, or "" if no agent is
// installed. It also returns the other installed agents, and a text about all of them for the user.
func installedAgents() (player string, others []string, said string) {
	var missing []string
	for _, a := range roster.FindInstallable() {
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
		return "", nil, "No agent that asks a model is installed here, so agents/agent.sh stands in: it " +
			"shows how an agent speaks, does nothing, and replies blocked.\n" +
			"Install one, and name it in .kanban-run.yaml; kanban-run ack kanban.yaml retry takes up a task that " +
			"was blocked meanwhile:\n" + strings.Join(missing, "\n")
	}
	said = player + " is installed, and does the work; walk is the Manager, without a model (.kanban-run.yaml)"
	if len(others) > 0 {
		said += "; " + strings.Join(others, " and ") + " could do it, too"
	}
	if said += "."; needsSandbox(player) {
		said += "\nYou are root, so the settings say IS_SANDBOX: take that out unless this machine may be " +
			"lost, as a container may."
	}
	return player, others, said
}

// startSettings returns the text of a settings file that gives one agent every role except the
// Manager's.
func startSettings(player string, others []string) string {
	text := `# yaml-language-server: $schema=.kanban-run/schema/settings.schema.json
# Settings of kanban-run for this folder; kanban-run config prints all of them and where each came from.

` + "# Who plays the roles. walk is a Manager without a model: it names the next task of the list. " +
		"One with a model also splits tasks, and costs a call\n# a task.\n"
	if player == "" {
		text += "# No agent that asks a model was installed when this was written. With claude, for example: " +
			"{default: claude, Manager: walk}.\n" +
			"agent: {default: exec, Manager: walk}\nexec: sh agents/agent.sh\n"
	} else {
		if len(others) > 0 {
			text += "# " + strings.Join(others, " and ") + " could do the work, too.\n"
		}
		text += "agent: {default: " + player + ", Manager: walk}\n"
	}
	if needsSandbox(player) {
		text += "\n# claude asks nobody for permission, and refuses that to root unless this machine may be lost, " +
			"as a container may: that is what this line says. If it\n" +
			`# may not, take the line out, and run kanban-run as another user.
env: {set: {IS_SANDBOX: "1"}}
`
	}
	return text + `
timeout: 1h    # of one attempt of an agent
max_retries: 3 # after a reply that has not the right format
# max_cost: 5.00           # US dollars of a run; it stops before an attempt that would begin above that
# checkpoints: {every: 5}  # a supervisor looks in: docs/checkpoints.md
`
}

// needsSandbox reports whether an agent runs only if the settings declare the machine expendable
// (IS_SANDBOX).
func needsSandbox(player string) bool { return player == "claude" && os.Geteuid() == 0 }
