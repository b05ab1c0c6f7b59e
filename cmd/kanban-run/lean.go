package main

import (
	"os"
	"runtime/debug"
)

// How much garbage there may be beside what is in use, in percent. Small boards have little in use, and can afford much; with large
// ones the default of 100 would be a third of all memory. Of many boards side by side each has its share.
const (
	smallPercent = 80
	largePercent = 25
	manyPercent  = 12
)

const (
	smallBoards = 96 << 10 // bytes of all boards, at most
	largeBoards = 1 << 20  // the same, and more
	manyBoards  = 100      // that run side by side, and more
)

// lean keeps the memory of a run small, and returns what it is to do once the boards are prepared: until then the garbage of all but
// large ones does not fill what the runtime takes at least, and to collect it would be a fifth of the work. Who sets GOGC knows better.
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
	percent, atOnce := largePercent, size > largeBoards
	switch {
	case min(n, len(boards)) > manyBoards:
		percent, atOnce = manyPercent, true
	case size <= smallBoards:
		percent = smallPercent
	}
	if atOnce {
		debug.SetGCPercent(percent)
	}
	return func() { debug.SetGCPercent(percent) }
}
