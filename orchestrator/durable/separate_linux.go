package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// OpenSeparated opens a file of which processes lock single bytes, by the function open. If the file has
// several names, it first gets a copy of its own, see [Separate]. While a process has such a lock, the
// file is shared with a copy by hard links, because the lock counts here. The error is that of the
// function open.
func OpenSeparated(path string, open func() (*os.File, error)) (*os.File, error) {
	f, err := open()
	if !HasNames(err) {
		return f, err
	}
	shared, failed := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if failed != nil {
		return nil, err
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	if unix.FcntlFlock(shared.Fd(), unix.F_OFD_SETLK, &whole) != nil {
		return shared, nil
	}
	defer shared.Close()
	if Separate(path) != nil {
		return nil, err
	}
	return open()
}
