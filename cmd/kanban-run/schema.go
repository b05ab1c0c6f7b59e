package main

import (
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/schema"
)

func schemaCommand() command {
	return command{
		name: "schema", args: "[NAME]", summary: "print a JSON Schema, or their names",
		examples: `
  kanban-run schema            their names
  kanban-run schema standing   one of them`,
		setup: func(*pflag.FlagSet) func(*terminal, []string) (int, error) {
			return func(t *terminal, args []string) (int, error) {
				if len(args) == 0 {
					return exitComplete, t.stdout.PrintTrusted(strings.Join(schema.Names(), "\n") + "\n")
				}
				source, err := schema.Source(args[0])
				if err != nil {
					return 0, &usageError{text: err.Error(), hint: "the schemas: " + strings.Join(schema.Names(), ", ")}
				}
				return exitComplete, t.stdout.PrintTrusted(string(source))
			}
		},
	}
}
