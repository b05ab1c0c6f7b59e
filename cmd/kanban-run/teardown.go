package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
)

func teardownCommand() command {
	return command{
		name:    "teardown",
		args:    "BOARD",
		summary: "end the team of a board: check, archive, remove its runs",
		long: `
It checks that the board is over, that its journal contradicts nothing, that no step is open, and that all members of
the team have shut down. Exit code 0 says that the folder of its runs may go (READY_TO_DELETE), 3 that something is in
the way.

--delete packs that folder into one archive beside it, and removes it; the board and its tasks stay.`,
		examples: `
  kanban-run teardown kanban.yaml            may it go?
  kanban-run teardown --delete kanban.yaml   archive and remove it`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			remove := flags.Bool("delete", false,
				"archive the folder of the board's runs, and remove it, if all is ready")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("teardown", args, true); err != nil {
					return 0, err
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				if err := refuseAgents(false); err != nil {
					return 0, err
				}
				dir, err := inspect.Locate(args[0])
				if err != nil {
					return 0, err
				}
				gate, err := ledger.Teardown(args[0], dir, *remove, t.redactor(), time.Now)
				if err != nil {
					return 0, err
				}
				return t.printGate(args[0], gate)
			}
		},
	}
}

// printGate prints the state of a team's teardown and returns the exit code.
func (t *terminal) printGate(board string, g ledger.Gate) (int, error) {
	switch {
	case g.State == event.TeamDeleted:
		text := fmt.Sprintf("%s; the runs are in %s", g.State, g.Archive)
		if g.Clone != nil {
			on := strings.TrimPrefix(g.Clone.Branch, "refs/heads/") + " (" + g.Clone.Ref + " holds it, too)"
			if g.Clone.Unmoved {
				on = g.Clone.Ref
			}
			text += fmt.Sprintf("; its work is on %s, and the clone %s may go", on, g.Clone.Dir)
		}
		return exitComplete, t.stdout.Printf("%s: %s\n", board, text)
	case g.Reason != "":
		return exitNeedsPerson, t.stdout.Printf("%s: %s: %s\n", board, g.State, g.Reason)
	default:
		return exitComplete, t.stdout.Printf("%s: %s\n", board, g.State)
	}
}
