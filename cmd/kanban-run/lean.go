package main

import (
	"os"
	"runtime/debug"
)

// How much garbage there may be beside what is in use, in percent. The default, as much again, would be a third of all memory with a
// board of 100,000 tasks, where it costs little to collect it often; with small boards, which make little, it costs more.
const (
	smallPercent = 40
	largePercent = 18
)

const (
	largeBoards = 1 << 20 // bytes of all boards
	manyBoards  = 100     // that run side by side
)

// lean keeps the memory of a run small, and returns what it is to do once the boards are prepared: until then the garbage of small
// ones does not fill what the runtime takes at least, and to collect it would be a fifth of the work. Who sets GOGC knows better.
func lean(boards []string, n int) (prepared func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	size := int64(0)
	for _, b := range boards {
		if info, err := os.Stat(b); err == nil {
			size += info.Size()
		}
	}
	if size > largeBoards || min(n, len(boards)) > manyBoards {
		debug.SetGCPercent(largePercent)
		return func() {}
	}
	return func() { debug.SetGCPercent(smallPercent) }
}
