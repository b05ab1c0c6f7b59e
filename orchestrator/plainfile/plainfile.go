// Package plainfile opens only regular files and folders. It refuses any other file: opening a
// FIFO, for example, could wait for ever.
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

// NonBlock is a flag for opening a file. With it, opening a FIFO does not wait for the other end.
const NonBlock = syscall.O_NONBLOCK

// Open opens a regular file for reading, and follows links. It checks the kind of the file before
// it opens the file, since opening a device may have an effect. It checks the kind again
// afterwards, since the file may have been replaced. Errors: ErrKind.
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

// Read reads a regular file, and returns an error if the file has more bytes than the limit.
// Errors: ErrKind.
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

// OpenFolder opens a folder, and refuses any other file. It adds a dot to the path as the last
// element, which the system resolves only in a folder.
func OpenFolder(dir string) (*os.File, error) {
	return os.Open(filepath.Clean(dir) + string(filepath.Separator) + ".")
}

// OpenRoot opens a folder as a root, and refuses any other file as OpenFolder does.
func OpenRoot(dir string) (*os.Root, error) {
	return os.OpenRoot(filepath.Clean(dir) + string(filepath.Separator) + ".")
}
