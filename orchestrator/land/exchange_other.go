//go:build !linux

package land

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// exchange is supported on Linux only.
func exchange(string, *os.File, string) error { return errors.ErrUnsupported }

// moveIn moves the file at path to the entry name of a folder, which must not be there. Errors: fs.ErrExist.
func moveIn(path string, dir *os.File, name string) error {
	return renameTo(path, filepath.Join(dir.Name(), name))
}

// moveOut moves the entry name of a folder to path, where nothing must be. Errors: as of moveIn.
func moveOut(dir *os.File, name, path string) error {
	return renameTo(filepath.Join(dir.Name(), name), path)
}

func renameTo(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}
