//go:build !linux

package marks

import (
	"fmt"
	"os"
)

// stampOf returns the state of a file.
func stampOf(info os.FileInfo) string { return fmt.Sprint(info.Size(), info.ModTime().UnixNano()) }
