package main

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/docs"
)

func docsCommand() command {
	return command{
		name: "docs", args: "[TOPIC]", summary: "print a page of the documentation, or list them",
		examples: `
  kanban-run docs                      the topics
  kanban-run docs overnight | less     one page
  kanban-run docs --man ~/.local/share/man/man1`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			man := flags.String("man", "", "write the man pages of kanban-run and its commands into `DIR` instead")
			return func(t *terminal, args []string) (int, error) {
				switch {
				case flags.Changed("man") && len(args) > 0:
					return 0, &usageError{text: "--man writes the man pages, and prints no page", hint: "kanban-run docs --man DIR"}
				case flags.Changed("man"):
					return exitComplete, writeManPages(t, *man)
				case len(args) == 0:
					return exitComplete, t.listDocs()
				case len(args) == 1:
					text, err := docs.Page(args[0])
					if err != nil {
						hint := "the topics: " + strings.Join(docs.Topics(), ", ")
						if near := nearest(args[0], docs.Topics()); near != "" {
							hint = "did you mean kanban-run docs " + near + "?"
						}
						return 0, &usageError{text: err.Error(), hint: hint}
					}
					return exitComplete, t.stdout.PrintTrusted(text)
				default:
					return 0, &usageError{text: "docs prints one page", hint: "kanban-run docs lists the topics"}
				}
			}
		},
	}
}

func (t *terminal) listDocs() error {
	var errs []error
	for _, topic := range docs.Topics() {
		errs = append(errs, t.stdout.Printf("  %-17s %s\n", topic, docs.Title(topic)))
	}
	return errors.Join(errs...)
}
