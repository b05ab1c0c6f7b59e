package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
)

func reportCommand() command {
	return command{
		name:    "report",
		args:    "[BOARD...]",
		many:    always,
		summary: "what became of boards, as Markdown, HTML, JUnit or JSON",
		long: `
Markdown is for people: a table of the boards and, for each, a timeline and its steps. --junit is for CI systems: a
suite for each board, a case for each step, and one failure for each board that is not complete. --json is for
programs. --html is one file for a browser, which asks nothing of the network. --supervisor is a SUPERVISOR_REPORT
about the last runs: what went wrong, what was done, what waits for a decision.

Everything is read from the journals, also while a run is at work. Without a board it is about all boards below this
folder. The exit code says nothing about the boards.`,
		examples: `
  kanban-run report --html > night.html     all boards below this folder, as a page
  kanban-run report --junit kanban.yaml     one board, for a CI system`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			forms := map[string]*bool{
				"junit":    flags.Bool("junit", false, "JUnit XML"),
				"markdown": flags.Bool("markdown", false, "Markdown (the default)"),
				"json":     flags.Bool("json", false, "JSON"),
				"html":     flags.Bool("html", false, "one HTML file, to be opened in a browser"),

				"supervisor": flags.Bool("supervisor", false, "a SUPERVISOR_REPORT"),
			}
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("report", args, false); err != nil {
					return 0, err
				}
				form, err := oneOf(forms)
				if err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				if form == "html" {
					return exitComplete, t.reportPage(u.looker(keepSteps), args)
				}
				boards, err := lookAt(u.looker(keepSteps), args)
				if form == "json" {
					return exitComplete, errors.Join(t.printJSON(boardsOf(boards), workdirs(u.dir, boards)), err)
				}
				if !isShown(err) {
					return 0, err
				}
				return exitComplete, errors.Join(t.report(boards, form), err)
			}
		},
	}
}

// oneOf returns the form that the flags choose, or "" if they choose no form. Errors: *usageError
// if they choose several forms.
func oneOf(forms map[string]*bool) (chosen string, err error) {
	for name, yes := range forms {
		if *yes && chosen != "" {
			return "", &usageError{
				text: "a report has one form",
				hint: "use one of --junit, --markdown, --json, --html and --supervisor",
			}
		}
		if *yes {
			chosen = name
		}
	}
	return chosen, nil
}

func (t *terminal) report(boards []*projection.Board, form string) error {
	switch form {
	case "supervisor":
		return t.stdout.Printf("%s", console.Lines(report.SupervisorReport(boards)))
	case "junit":
		text, err := report.JUnit(boards, t.secrets.Hide)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		return t.stdout.PrintTrusted(string(text))
	default:
		if term.IsTerminal(int(t.screen.Fd())) && form == "" {
			return t.stdout.PrintTrusted(report.MarkdownForTerminal(boards, t.secrets.Hide))
		}
		return t.stdout.PrintTrusted(report.Markdown(boards, t.secrets.Hide, 0))
	}
}
