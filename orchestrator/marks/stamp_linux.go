package marks

import (
	"fmt"
	"os"
	"syscall"
)

// stampOf returns the state of a file. It has the time of the last change of the inode, which no
// program can set back.
func stampOf(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Size, s.Ino, s.Mtim.Nano(), s.Ctim.Nano())
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}
