package durable

import (
	"os"

	"golang.org/x/sys/windows"
)

// errHeld is what the kernel says when somebody else has the lock.
var errHeld error = windows.ERROR_LOCK_VIOLATION

// lockAt is the byte that is locked: far behind the text, because a locked
// byte cannot be read by others.
const lockAt = 1 << 30

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

func tryLock(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: lockAt}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
}
