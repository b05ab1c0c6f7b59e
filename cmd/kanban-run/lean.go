package main

import (
	"runtime/debug"

	"kanban-run/orchestrator"
)

const (
	// muchSource is from how many bytes of boards on they are most of what is in memory.
	muchSource = 1 << 20
	// manyBoards is the same for the number of boards that run side by side.
	manyBoards = 100
	// leanPercent is how much garbage there may be beside what is in use. The default is as much again: with a board of 100,000 tasks
	// that is a third of all memory, and to collect it more often is not to be seen in the time of a step.
	leanPercent = 30
)

// lean keeps the memory of large runs small.
func lean(boards []*orchestrator.Prepared, n int) {
	size := 0
	for _, b := range boards {
		size += b.Size()
	}
	if size > muchSource || min(n, len(boards)) > manyBoards {
		debug.SetGCPercent(leanPercent)
	}
}
