package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Acquire tries a held lock again for a moment, since IsHeld takes it for an instant.
const (
	heldTries = 5
	heldPause = 10 * time.Millisecond
)

// IsHeld reports whether a process holds the lock at path. It changes nothing; a missing lock file
// is not held.
func IsHeld(path string) (bool, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	f, err := OpenPlain(path, os.O_RDWR, 0)
	// Writing comes first: network file systems lock only files that are open for writing.
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		f, err = OpenPlain(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	held, err := isHeld(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	return held, nil
}

func isHeld(f *os.File) (bool, error) {
	err := lock(f)
	if errors.Is(err, errHeld) {
		return true, nil
	}
	return false, errors.Join(err, unlock(f))
}
