package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/docs"
	"kanban-run/orchestrator/report"
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
					if s := t.screenOf(); s.Width > 0 {
						text = wrapPage(text, min(s.Width, widestPage))
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
	width := 0
	for _, topic := range docs.Topics() {
		width = max(width, len(topic))
	}
	for _, topic := range docs.Topics() {
		errs = append(errs, t.stdout.Printf("  %-*s  %s\n", width, topic, docs.Title(topic)))
	}
	return errors.Join(errs...)
}

// widestPage is the greatest width of a page on a terminal, in columns.
const widestPage = 100

// listItem matches the sign before an item of a list.
var listItem = regexp.MustCompile(`^ *([-*]|[0-9]+\.) `)

// wrapPage breaks the paragraphs, lists and tables of a page of Markdown into lines of at most width columns. A
// row of a table becomes a line for each cell. Blocks of code stay as they are.
func wrapPage(text string, width int) string {
	var out, open []string
	flush := func() {
		if len(open) > 0 {
			indent := strings.Repeat(" ", len(listItem.FindString(open[0])))
			for i, line := range report.Wrap(strings.Join(open, " "), width-len(indent)) {
				if i > 0 {
					line = indent + line
				}
				out = append(out, line)
			}
		}
		open = nil
	}
	isCode := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence || isCode:
			flush()
			out = append(out, line)
			isCode = isCode != fence
		case strings.HasPrefix(line, "|"):
			flush()
			out = append(out, wrapRow(line, width)...)
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "<!--"), strings.HasPrefix(line, "    "):
			flush()
			out = append(out, line)
		case listItem.MatchString(line):
			flush()
			open = []string{line}
		default:
			open = append(open, line)
		}
	}
	flush()
	return strings.Join(out, "\n") + "\n"
}

// wrapRow returns the lines of a row of a table: the first cell, and the others below it, indented.
func wrapRow(row string, width int) (lines []string) {
	if strings.Trim(row, "|-: ") == "" {
		return nil
	}
	row = strings.ReplaceAll(strings.Trim(row, "|"), `\|`, "\x00")
	for i, cell := range strings.Split(row, "|") {
		cell = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
		indent := strings.Repeat("  ", min(i, 1))
		for k, line := range report.Wrap(cell, width-4) {
			switch {
			case line == "":
			case k == 0:
				lines = append(lines, indent+line)
			default:
				lines = append(lines, indent+"  "+line)
			}
		}
	}
	return append(lines, "")
}
