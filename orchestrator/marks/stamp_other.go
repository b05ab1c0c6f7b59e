//go:build !linux

package marks

import (
	"os"
	"time"
)

// stamp is the state of a file. The zero value is a file that cannot be looked at.
type stamp struct{ size, modified int64 }

// changedAt returns the time of the last change of the file.
func (s stamp) changedAt() time.Time { return time.Unix(0, s.modified) }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}
