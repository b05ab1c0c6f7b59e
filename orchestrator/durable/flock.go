package durable

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errHeld is the kernel's error when another process has the lock.
var errHeld error = unix.EWOULDBLOCK

// noFollow has the flags with which os.OpenFile refuses a link, and does not wait for the other end
// of a FIFO. Through a link, two boards could share a lock.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

func lock(f *os.File) error   { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }
func unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}

// countNames returns the number of the file's names, or 0 if the file was removed.
func countNames(_ *os.File, info fs.FileInfo) (uint64, error) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink), nil
	}
	return 1, nil
}
