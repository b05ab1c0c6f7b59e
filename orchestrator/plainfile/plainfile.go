// Package plainfile opens regular files and folders only. It refuses others, such as a FIFO, whose
// opening could wait for ever.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ErrKind is the error for an existing file that is not regular.
var ErrKind = errors.New("it is not a regular file")

// NonBlock is the flag that keeps an open from waiting for the other end of a FIFO.
const NonBlock = syscall.O_NONBLOCK

// Open opens a regular file for reading; links are followed. It checks the file before it opens it,
// since opening a device may have an effect, and afterwards, since it may have been replaced.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrKind
	}
	f, err := os.OpenFile(path, os.O_RDONLY|NonBlock, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = ErrKind
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a regular file of at most the given number of bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %s", size(most))
	}
	return data, err
}

func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// OpenFolder opens a folder. The system resolves the dot in a folder only.
func OpenFolder(dir string) (*os.File, error) {
	return os.Open(filepath.Clean(dir) + string(filepath.Separator) + ".")
}

// OpenRoot opens a folder as a root.
func OpenRoot(dir string) (*os.Root, error) {
	return os.OpenRoot(filepath.Clean(dir) + string(filepath.Separator) + ".")
}
