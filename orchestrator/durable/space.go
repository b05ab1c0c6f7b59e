//go:build linux || darwin

package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsFull reports whether a folder's disk has no room left for a file of ordinary size.
func IsFull(dir string) bool {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return false // the caller's own error says more
	}
	free := s.Bavail
	if os.Geteuid() == 0 {
		free = s.Bfree // with what is reserved for root
	}
	block := uint64(s.Bsize)
	return isFull(free*block, s.Blocks*block, s.Ffree, s.Files)
}

// isFull judges by the bytes and files that are free, and by those in all. A program that meets a
// full disk removes what it could not finish, so that some space is free again. A file system without
// blocks, or without a bound on files, has 0 of them.
func isFull(free, all, freeFiles, allFiles uint64) bool {
	least := max(1<<20, min(64<<20, all/20))
	return all > 0 && free < least || allFiles > 0 && freeFiles == 0
}
