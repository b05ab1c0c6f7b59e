package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

const about = "kanban-run runs a board of tasks through AI coding agents, unattended, and tells the truth " +
	"about what happened.\n" + `
It reads the board, gives the current task to the agent of its role, checks that the reply is JSON of the right
format, asks again up to 3 times if it is not, and lets the Manager agent choose the next task, until the board
is complete.
`

// writeHelp prints the text of `kanban-run --help`.
func writeHelp(t *terminal) error {
	var b strings.Builder
	b.WriteString(about +
		"\nusage: kanban-run [run] [flags] BOARD...\n       kanban-run COMMAND [flags] [args]\n\ncommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-11s %s\n", c.name, c.summary)
	}
	b.WriteString("\nexit codes:\n")
	for _, row := range exitTable() {
		fmt.Fprintf(&b, "  %-4d %s\n", row.code, row.meaning)
	}
	b.WriteString("\nkanban-run COMMAND --help says more about a command.\n" +
		"Try it: kanban-run init demo && cd demo && kanban-run --dry-run kanban.yaml\n")
	return t.stdout.PrintTrusted(b.String())
}

// writeHelp prints the text of `kanban-run COMMAND --help`.
func (c command) writeHelp(t *terminal, flags *pflag.FlagSet) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: kanban-run %s\n", c.summary, strings.TrimSpace(c.name+" "+c.args))
	if c.long != "" {
		b.WriteString("\n" + strings.TrimSpace(c.long) + "\n")
	}
	if flags.HasAvailableFlags() {
		b.WriteString("\nflags:\n" + flags.FlagUsagesWrapped(110))
	}
	return t.stdout.PrintTrusted(b.String())
}
