package main

import (
	"os"
	"runtime/debug"
)

// leanPercent is how much garbage there may be beside what is in use. The default is as much again: with a board of 100,000 tasks
// that is a third of all memory. To collect it more often is not to be seen in the time of a step, which waits for agents and disks.
const leanPercent = 25

// lean keeps the memory of a run small. Who sets GOGC knows better.
func lean() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(leanPercent)
	}
}
