package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"kanban-run/orchestrator/plainfile"
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

// AcquireFolder locks a folder itself, as Acquire does a file. What replaces all files of the folder (sed
// -i, tar) leaves it the same. The result is nil if the system does not lock folders, such as a network
// file system. Errors: *HeldError.
func AcquireFolder(path string) (*Lock, error) {
	f, err := plainfile.OpenFolder(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	for try := 1; ; try++ {
		err := lock(f)
		switch {
		case err == nil:
			return &Lock{file: f}, nil
		case !errors.Is(err, errHeld):
			return nil, f.Close()
		case try == heldTries:
			return nil, errors.Join(&HeldError{Path: path}, f.Close())
		}
		time.Sleep(heldPause)
	}
}

// IsFolderHeld reports whether a process holds the lock of a folder.
func IsFolderHeld(path string) bool {
	f, err := plainfile.OpenFolder(path)
	if err != nil {
		return false
	}
	defer f.Close()
	held, _ := isHeld(f) // a system that does not lock folders holds none
	return held
}

func isHeld(f *os.File) (bool, error) {
	err := lock(f)
	if errors.Is(err, errHeld) {
		return true, nil
	}
	return false, errors.Join(err, unlock(f))
}
