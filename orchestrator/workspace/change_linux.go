package workspace

import (
	"os"
	"syscall"
)

// changeTime is when the inode of a file was last changed, which no program can set back.
func changeTime(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
