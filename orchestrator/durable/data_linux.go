package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncData makes the bytes and the length of f durable, but not its times: an append-only file does
// not need them.
func SyncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
		return nil
	}
}
