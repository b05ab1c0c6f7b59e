package durable

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// errHeld is the kernel's error when another process has the lock.
var errHeld error = windows.ERROR_LOCK_VIOLATION

// noFollow is nothing: Windows has no such flag, and the check before refuses links.
const noFollow = 0

// lockAt is the locked byte, far behind the text: other processes cannot read a locked byte.
const lockAt = 1 << 30

func lock(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: lockAt}
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
}

// countNames returns the number of f's names.
func countNames(f *os.File, _ fs.FileInfo) (uint64, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return uint64(info.NumberOfLinks), err
}
