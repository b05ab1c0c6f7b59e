package workspace

import (
	"os"
	"syscall"
)

// changeTime returns the time of the last change of a file's inode, in ns since 1970. No program
// can set this time back.
func changeTime(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
