// Command kanban-run runs a board of tasks through AI coding agents, unattended, and tells the
// truth about what happened.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
