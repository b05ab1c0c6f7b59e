package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Acquire tries a held lock several times, since a call of IsHeld holds the lock for an instant.
const (
	heldTries = 5
	heldPause = 10 * time.Millisecond
)

// IsHeld reports whether a process holds the lock at path. It changes no file, and returns false if
// there is no lock file.
func IsHeld(path string) (bool, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	// Open the file for writing if possible: network file systems lock only files that are open for
	// writing.
	f, err := openPlain(path, os.O_RDWR, 0, true)
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
