package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"
)

// maxInfo is how much of a lock file is read: more than any kanban-run writes.
const maxInfo = 256

// Lock is the right to be the only writer of something. The kernel takes it
// back when the last process that holds its descriptor ends, however it ends.
type Lock struct{ file *os.File }

// HeldError says that another process holds the lock at Path. Info is what
// that process wrote about itself, "" when it had not yet; for people only.
type HeldError struct{ Path, Info string }

func (e *HeldError) Error() string {
	if e.Info == "" {
		return fmt.Sprintf("lock %s: held by another process", e.Path)
	}
	return fmt.Sprintf("lock %s: held by another process (%s)", e.Path, e.Info)
}

// Hint says whom to ask about the lock.
func (e *HeldError) Hint() string {
	return "another run owns this board; see kanban-run status"
}

// errReplaced is a lock on a file that no longer bears the name.
var errReplaced = errors.New("the lock file was replaced while it was being locked")

// Acquire takes the lock at path, within a twentieth of a second, or returns a *HeldError. The file is
// made when missing and is never removed: a removed lock file has two holders.
// It must not be the file that it protects, because a rename would replace it.
func Acquire(path string) (*Lock, error) {
	var held *HeldError
	for try := 1; ; {
		l, err := acquire(path)
		switch {
		case errors.Is(err, errReplaced):
		case errors.As(err, &held) && try < heldTries:
			try++
			time.Sleep(heldPause)
		default:
			return l, err
		}
	}
}

func acquire(path string) (*Lock, error) {
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(lockError(f, path, err), f.Close())
	}
	if err := confirm(f, path); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return &Lock{file: f}, nil
}

func openLock(path string) (*os.File, error) { return OpenPlain(path, os.O_RDWR|os.O_CREATE, 0o600) }

func lockError(f *os.File, path string, err error) error {
	if !errors.Is(err, errHeld) {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	head, err := io.ReadAll(io.LimitReader(f, maxInfo))
	if err != nil {
		return fmt.Errorf("lock %s: held by another process: %w", path, err)
	}
	return &HeldError{Path: path, Info: printable(string(head))}
}

// printable keeps a damaged or hostile lock file from writing to the terminal.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}

// confirm checks that the locked file is still the one under the name, and
// says in it who holds it.
func confirm(f *os.File, path string) error {
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errReplaced
	}
	if err != nil {
		return err
	}
	if !os.SameFile(locked, named) {
		return errReplaced
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(lockInfo(os.Getpid())), 0)
	return err
}

func lockInfo(pid int) string {
	info := fmt.Sprintf("pid %d, since %s", pid, time.Now().UTC().Format(time.RFC3339))
	// Only Linux has a boot id; elsewhere the line does without.
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		info += ", boot " + strings.TrimSpace(string(id))
	}
	return info + "\n"
}

// File is the locked file, so that another process can be given a duplicate of
// it: the lock is held until Release, or until both have ended. Do not close it.
func (l *Lock) File() *os.File { return l.file }

// Describe says in the lock file that another process than this one is to be asked about the lock.
func (l *Lock) Describe(pid int) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(lockInfo(pid)), 0)
	return err
}

// Release gives the lock back at once, also when another process has a
// duplicate of its file.
func (l *Lock) Release() error {
	if err := errors.Join(unlock(l.file), l.file.Close()); err != nil {
		return fmt.Errorf("release lock %s: %w", l.file.Name(), err)
	}
	return nil
}

// TryLock locks the open file f itself, until Unlock or until it is closed, or
// returns a *HeldError at once when another open of it is locked. Whoever only
// reads and takes no lock is not kept away.
func TryLock(f *os.File) error {
	err := lock(f)
	if errors.Is(err, errHeld) {
		return &HeldError{Path: f.Name()}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// Unlock ends what TryLock began, at once: a child that is just being started
// may share f for a moment longer.
func Unlock(f *os.File) error {
	if err := unlock(f); err != nil {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}
