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

// maxInfo bounds the part of a lock file that is read, in bytes. What kanban-run writes is shorter.
const maxInfo = 256

// Lock is the right to be the only writer. The kernel takes the lock back at the end of the last
// process that has the file open.
type Lock struct{ file *os.File }

// HeldError reports that another process holds the lock at Path. Info is a text about that process,
// for people only, or "" if that process has not written it yet.
type HeldError struct{ Path, Info string }

func (e *HeldError) Error() string {
	pid, boot, since := parseInfo(e.Info)
	switch {
	case since.IsZero():
		return fmt.Sprintf("lock %s: held by another process", e.Path)
	case boot != BootID(): // on a file system that machines share
		return fmt.Sprintf("a process of another machine has it: %s, since %s", pid, clock(since))
	default:
		return fmt.Sprintf("another process has it: %s, since %s", pid, clock(since))
	}
}

// parseInfo reads the text of lockInfo. The time is zero for any other text.
func parseInfo(info string) (pid, boot string, since time.Time) {
	pid, rest, _ := strings.Cut(strings.TrimSpace(info), ", since ")
	at, boot, _ := strings.Cut(rest, ", boot ")
	since, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return "", "", time.Time{}
	}
	return pid, boot, since
}

// clock returns a time for a person. It adds the day if that is not today.
func clock(at time.Time) string {
	at = at.Local()
	if at.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// Hint returns what the user can do.
func (e *HeldError) Hint() string {
	return "another run owns this board; see kanban-run status"
}

// errReplaced reports a lock on a file that no longer has the name of the lock file.
var errReplaced = errors.New("the lock file was replaced while it was being locked")

// Acquire takes the lock at path within a twentieth of a second or returns a *HeldError. Acquire
// makes a missing lock file and never removes it, because a second file of that name could have a
// second holder. The lock file must not be the protected file itself, because a rename would
// replace that file.
func Acquire(path string) (*Lock, error) {
	var held *HeldError
	for try := 1; ; {
		l, err := acquire(path)
		switch {
		case errors.Is(err, errReplaced):
		case HasNames(err):
			if err := SeparateLock(path); err != nil {
				return nil, err
			}
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
	if err := confirmName(f, path); err != nil {
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
	return &HeldError{Path: path, Info: makePrintable(string(head))}
}

// makePrintable replaces unprintable characters, since a damaged or hostile lock file could send
// them to the terminal.
func makePrintable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}

// confirmName checks that the locked file is still the file at path, and writes this process into
// the file as the holder. Errors: errReplaced.
func confirmName(f *os.File, path string) error {
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
	info := fmt.Sprintf("pid %d, since %s", pid, time.Now().UTC().Format(time.RFC3339Nano))
	if id := BootID(); id != "" {
		info += ", boot " + id
	}
	return info + "\n"
}

// HeldSince returns the time at which the lock at path was taken last, or the zero time if it is not known.
func HeldSince(path string) time.Time {
	head, err := ReadPlain(path, maxInfo) // an error means that it is not known
	if err != nil {
		return time.Time{}
	}
	_, _, since := parseInfo(string(head))
	return since
}

// BootID returns the identifier of the system's last boot, or "" on systems other than Linux.
func BootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// File returns the locked file, to give another process a duplicate of it. The lock is then held
// until Release, or until both processes have ended. Do not close the file.
func (l *Lock) File() *os.File { return l.file }

// SetHolder writes another process into the lock file as the holder.
func (l *Lock) SetHolder(pid int) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(lockInfo(pid)), 0)
	return err
}

// Release gives the lock back at once, even when another process has a duplicate of its file.
func (l *Lock) Release() error {
	if err := errors.Join(unlock(l.file), l.file.Close()); err != nil {
		return fmt.Errorf("release lock %s: %w", l.file.Name(), err)
	}
	return nil
}

// TryLock locks the open file f, until Unlock or until f is closed. It returns a *HeldError at once
// if the file is locked through another open file. A reader without a lock is not affected.
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

// Unlock releases the lock of TryLock at once. Closing f may not be enough: a child that is being
// started may share f for a moment longer.
func Unlock(f *os.File) error {
	if err := unlock(f); err != nil {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}
