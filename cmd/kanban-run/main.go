// Command kanban-run runs a board of tasks through AI coding agents, unattended, and tells the
// truth about what happened.
package main

import (
	"os"
	_ "time/tzdata" // an agent names its reset in a zone, and small images have no files of zones
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
