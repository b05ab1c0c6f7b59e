package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"kanban-run/orchestrator/report"
)

const about = `
kanban-run runs a board of tasks through AI coding agents, unattended, and tells the truth about what happened.

It gives the current task to the agent of its role, checks the form of the reply, asks again up to 3 times if that is wrong, and lets the
Manager choose the next task, until the board is complete.`

// synopsis has the ways to call the program, one a line.
const synopsis = "kanban-run [run] [flags] BOARD...\nkanban-run COMMAND [flags] [args]"

// writeHelp prints the text of `kanban-run --help`.
func writeHelp(t *terminal) error {
	var b strings.Builder
	b.WriteString(about + "\n\nusage: " + strings.ReplaceAll(synopsis, "\n", "\n       ") + "\n")
	for _, g := range groups() {
		b.WriteString("\n" + g.title + ":\n")
		for _, c := range g.commands {
			fmt.Fprintf(&b, "  %-11s %s\n", c.name, c.summary)
		}
	}
	b.WriteString("\nexit codes:\n" + exitRows())
	b.WriteString("\nkanban-run COMMAND --help says more about a command, kanban-run docs about all. " +
		"Try it: kanban-run init demo && cd demo && kanban-run --dry-run\n")
	return t.printHelp(b.String())
}

// writeHelp prints the text of `kanban-run COMMAND --help`.
func (c command) writeHelp(t *terminal, flags *pflag.FlagSet) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: %s\n", c.summary, c.synopsis())
	if c.long != "" {
		b.WriteString("\n" + strings.TrimSpace(c.long) + "\n")
	}
	fmt.Fprintf(&b, "\nexamples:\n%s\n", strings.Trim(c.examples, "\n"))
	if flags.HasAvailableFlags() {
		b.WriteString("\nflags:\n")
		return t.printHelp(b.String(), flags.FlagUsagesWrapped(t.helpWidth()))
	}
	return t.printHelp(b.String())
}

// helpWidth returns the width of a help text in columns.
func (t *terminal) helpWidth() int {
	if t.screen == nil || !term.IsTerminal(int(t.screen.Fd())) {
		return 80
	}
	width, _ := sizeOf(t.screen)
	return min(width, 120)
}

// printHelp prints a text at the width of the terminal, and behind it lines that have that width.
func (t *terminal) printHelp(text string, lines ...string) error {
	s := report.Screen{Out: t.stdout, Width: t.helpWidth()}
	return t.stdout.PrintTrusted(layout(s, strings.TrimSpace(text)) + strings.Join(lines, ""))
}

// layout breaks the lines of a text between words. Lines that follow each other are one paragraph. A line
// that begins with two spaces is an item: a head, two spaces at least, and a text, which stays beside
// the head. The lines of the usage stay as they are.
func layout(s report.Screen, text string) string {
	var out []string
	paragraph, usage := "", false
	flush := func() {
		if paragraph != "" {
			out = append(out, report.Wrap(paragraph, s.Width)...)
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		usage = strings.HasPrefix(line, "usage: ") || usage && line != ""
		head, words := "", strings.TrimLeft(line, " ")
		if gap := strings.Index(words, "  "); words != line && gap > 0 {
			words = strings.TrimLeft(words[gap:], " ")
			head = strings.TrimSuffix(line, words)
		}
		switch {
		case head != "" && !usage:
			flush()
			out = append(out, s.Wrapped(head, words)...)
		case usage || line == "" || words != line:
			flush()
			out = append(out, line)
		default:
			paragraph += " " + line
		}
	}
	flush()
	return strings.Join(out, "\n") + "\n"
}

func (c command) synopsis() string { return strings.TrimSpace("kanban-run " + c.name + " " + c.args) }

// exitRows returns the exit codes and their meanings, one a line.
func exitRows() string {
	var b strings.Builder
	for _, row := range exitTable() {
		fmt.Fprintf(&b, "  %-4d %s\n", row.code, row.meaning)
	}
	return b.String()
}
