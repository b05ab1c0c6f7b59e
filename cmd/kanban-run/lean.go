package main

import (
	"os"
	"runtime/debug"
)

// How much garbage there may be beside what is in use, in percent. Small boards have little in use, and can afford much; with large
// ones the default of 100 would be a third of all memory. Of many boards side by side each has its share.
const (
	smallPercent = 80
	largePercent = 30
	manyPercent  = 12
)

const (
	smallBoards = 96 << 10 // bytes of all boards, at most
	manyBoards  = 100      // that run side by side, and more
)

// lean keeps the memory of a run small, and returns what it is to do once the boards are prepared: what one board leaves behind until
// then is little, and to collect it would be a fifth of the work. Who sets GOGC knows better.
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
	percent := largePercent
	switch {
	case min(n, len(boards)) > manyBoards:
		percent = manyPercent
		debug.SetGCPercent(percent)
	case size <= smallBoards:
		percent = smallPercent
	}
	return func() { debug.SetGCPercent(percent) }
}
