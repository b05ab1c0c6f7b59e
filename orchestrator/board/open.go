package board

import (
	"errors"
	"io/fs"
	"os"

	"kanban-run/orchestrator/plainfile"
)

// file is a file that is open for reading.
type file struct {
	*os.File
	info fs.FileInfo
}

// open opens a regular file. It checks the kind first, because opening a device may have an effect.
// Errors: errFolder, errSpecial, or the system's error without the path.
func open(path string) (*file, error) {
	if info, err := os.Stat(path); err == nil && regular(info.Mode()) != nil {
		return nil, regular(info.Mode())
	}
	file, err := os.OpenFile(path, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, cause(err)
	}
	f, err := newFile(file)
	if err == nil && f.regular() != nil {
		return nil, errors.Join(f.regular(), f.Close())
	}
	return f, err
}

func newFile(f *os.File) (*file, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(cause(err), f.Close())
	}
	return &file{f, info}, nil
}

// regular returns errFolder or errSpecial unless the file is regular.
func (f *file) regular() error { return regular(f.info.Mode()) }

// isAt reports whether path is this file itself. It does not follow a link.
func (f *file) isAt(path string) (bool, error) {
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(named, f.info), err
}

func regular(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return errFolder
	case !mode.IsRegular():
		return errSpecial
	}
	return nil
}
