//go:build !linux

package workspace

import "os"

// readersFiles is not available on this system.
func readersFiles(os.FileInfo) []os.FileInfo { return nil }
