package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/plainfile"
)

// NotPlainError reports that this program cannot have made the file at Path. A write to such a file
// could change a file elsewhere.
type NotPlainError struct {
	Path string
	What string // "a symbolic link", "a file with 2 names", "no regular file"

	names bool // the only fault is that the file has several names, see Separate
}

func (e *NotPlainError) Error() string {
	return fmt.Sprintf("%s is %s, not a file of kanban-run's own", e.Path, e.What)
}

// Hint returns what the user can do.
func (e *NotPlainError) Hint() string {
	return "put a copy of the file in its place (cp FILE COPY, then mv COPY FILE), or move it away"
}

// OpenPlain is os.OpenFile for a file of this program. It refuses symbolic links, files that are not
// regular and, unless it opens them only for reading, files with a second name (hard links), with a
// *NotPlainError, before it reads or changes a byte of them.
func OpenPlain(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return openPlain(path, flag, perm, flag&(os.O_WRONLY|os.O_RDWR) == 0)
}

func openPlain(path string, flag int, perm fs.FileMode, anyNames bool) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path, info)
	}
	// A link or a FIFO may have appeared since Lstat. The open does not follow the link, and does
	// not wait for the FIFO.
	f, err := os.OpenFile(path, flag|noFollow, perm)
	if err != nil {
		return nil, err
	}
	if err := checkPlain(f, path, anyNames); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// MakePlainFolder makes a folder for files of this program, if it is missing. It replaces a symbolic
// link, through which a write would change files elsewhere. Errors: *NotPlainError for another file in
// its place.
func MakePlainFolder(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // two runs may see the link
			return err
		}
	}
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = &NotPlainError{Path: path, What: "no folder"}
	}
	return err
}

// OpenIgnored is OpenPlain for a file in a folder that git is not to show. It makes the folder, the
// one above it, and the folder's .gitignore if they are missing, also after a kill in between.
func OpenIgnored(path string, flag int, perm fs.FileMode) (*os.File, error) {
	folder := filepath.Dir(path)
	if err := os.Mkdir(filepath.Dir(folder), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := MakePlainFolder(folder); err != nil {
		return nil, err
	}
	ignored := filepath.Join(folder, ".gitignore")
	if ignore, err := OpenPlain(ignored, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, _ = ignore.WriteString("*\n")
		_ = ignore.Close()
	}
	return OpenPlain(path, flag, perm)
}

// ReadPlain reads a file of this program (see OpenPlain). The parameter "most" bounds the number of
// bytes.
func ReadPlain(path string, most int64) ([]byte, error) {
	f, err := OpenPlain(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return text, errors.Join(err, f.Close())
}

// CountNames returns the number of names (hard links) of an open file, or 0 if the file was
// removed.
func CountNames(f *os.File) (uint64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return countNames(f, info)
}

// HasNames reports whether err refuses a file only because it has several names.
func HasNames(err error) bool {
	var refused *NotPlainError
	return errors.As(err, &refused) && refused.names
}

// RefuseNames returns a *NotPlainError if a write to the file at path would change a file of another
// name.
func RefuseNames(path string) error {
	f, err := OpenPlain(path, os.O_RDWR, 0)
	switch {
	case HasNames(err):
		return err
	case err != nil:
		return nil // its user meets the error
	default:
		return f.Close()
	}
}

// Separate gives a file with several names a copy of its own in its place. A backup by hard links
// (cp -al) gives each file a second name. Other files, and none, are left as they are.
func Separate(path string) error {
	if RefuseNames(path) == nil {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	text, err := plainfile.Read(path, mostSeparated)
	if err == nil && int64(len(text)) < info.Size() {
		err = fmt.Errorf("%s is too long to be copied", path)
	}
	if err != nil {
		return err
	}
	return replace(disk{}, path, text, info.Mode().Perm(), nil)
}

// mostSeparated bounds the files that Separate copies, in bytes.
const mostSeparated = 1 << 30

// SeparateLock is Separate for the file of a lock by Acquire or TryLock. Errors: *HeldError if a process
// holds the lock, which would then be another file than the one of that name.
func SeparateLock(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := TryLock(f); err != nil {
		return err
	}
	return Separate(path)
}

func checkPlain(f *os.File, path string, anyNames bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return notRegular(path, info)
	}
	names, err := countNames(f, info)
	if err == nil && names > 1 && !anyNames {
		err = &NotPlainError{Path: path, What: fmt.Sprintf("a file with %d names", names), names: true}
	}
	return err
}

func notRegular(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return &NotPlainError{Path: path, What: "a symbolic link"}
	}
	return &NotPlainError{Path: path, What: "no regular file"}
}
