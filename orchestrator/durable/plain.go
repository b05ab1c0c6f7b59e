package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// NotPlainError reports that this program cannot have made the file at Path. A write to such a file
// could change a file elsewhere.
type NotPlainError struct {
	Path string
	What string // "a symbolic link", "a file with 2 names", "no regular file"
}

func (e *NotPlainError) Error() string {
	return fmt.Sprintf("%s is %s, not a file of kanban-run's own", e.Path, e.What)
}

// Hint returns what the user can do.
func (e *NotPlainError) Hint() string {
	return "put a copy of the file in its place (cp FILE COPY, then mv COPY FILE), or move it away"
}

// OpenPlain is os.OpenFile for a file of this program. It refuses symbolic links, files with a
// second name (hard links) and files that are not regular, with a *NotPlainError, before it reads
// or changes a byte of them.
func OpenPlain(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path, info)
	}
	// A link or a FIFO may have appeared since Lstat. The open does not follow the link, and does
	// not wait for the FIFO.
	f, err := os.OpenFile(path, flag|noFollow, perm)
	if err != nil {
		return nil, err
	}
	if err := checkPlain(f, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenIgnored is OpenPlain for a file in a folder that git is not to show. It makes the folder and
// the folder's .gitignore if they are missing, also after a kill between the two.
func OpenIgnored(path string, flag int, perm fs.FileMode) (*os.File, error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
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

func checkPlain(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return notRegular(path, info)
	}
	names, err := countNames(f, info)
	if err == nil && names > 1 {
		err = &NotPlainError{Path: path, What: fmt.Sprintf("a file with %d names", names)}
	}
	return err
}

func notRegular(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return &NotPlainError{Path: path, What: "a symbolic link"}
	}
	return &NotPlainError{Path: path, What: "no regular file"}
}
