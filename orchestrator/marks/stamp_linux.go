package marks

import (
	"time"

	"golang.org/x/sys/unix"
)

// stamp is the state of a file. It has the time of the last change of the inode, which no program
// can set back. The zero value is a file that cannot be looked at.
type stamp struct {
	size, modified, changed int64
	inode                   uint64
}

// changedAt returns the time of the last change of the file.
func (s stamp) changedAt() time.Time { return time.Unix(0, s.changed) }

func stampOf(path string) stamp {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return stamp{}
	}
	return stamp{s.Size, s.Mtim.Nano(), s.Ctim.Nano(), s.Ino}
}
