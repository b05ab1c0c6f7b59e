package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/config"
)

func configCommand() command {
	return command{
		name: "config", args: "[get NAME]", summary: "print the settings and where each came from",
		long: `
A flag wins over its KANBAN_RUN_* variable, that over .kanban-run.yaml in the work directory, that over the default.
What names a role wins over --agent and --exec without a role.

get prints the value of one setting alone.`,
		examples: `
  kanban-run config
  kanban-run config get timeout`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags)
			asJSON := flags.Bool("json", false, "print one JSON array")
			return func(t *terminal, args []string) (int, error) {
				if len(args) > 0 && (args[0] != "get" || len(args) != 2) {
					return 0, &usageError{text: fmt.Sprintf("config takes get NAME, and not %q", args), hint: "kanban-run config get timeout"}
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				r, err := u.resolve(u.dir)
				switch {
				case err != nil:
					return 0, err
				case len(args) > 0:
					return exitComplete, printSetting(t, r.origins, args[1])
				case *asJSON:
					return exitComplete, t.stdout.JSON(r.origins, "  ")
				}
				var errs []error
				for _, o := range r.origins {
					errs = append(errs, t.stdout.Printf("%-25s %-20s  %s\n", o.Name, o.Value, o.Source))
				}
				return exitComplete, errors.Join(errs...)
			}
		},
	}
}

// printSetting prints the value of one setting.
func printSetting(t *terminal, all []config.Origin, name string) error {
	var names []string
	for _, o := range all {
		if names = append(names, o.Name); o.Name == name {
			return t.stdout.Printf("%s\n", o.Value)
		}
	}
	slices.Sort(names)
	hint := "kanban-run config --json has their names"
	if near := nearest(name, names); near != "" {
		hint = "did you mean kanban-run config get " + near + "?"
	}
	return &usageError{text: "there is no setting " + name, hint: hint}
}
