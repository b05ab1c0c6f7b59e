package board

import (
	"errors"
	"io/fs"
	"os"
)

// file is open for reading.
type file struct {
	*os.File
	info fs.FileInfo
}

func open(path string) (*file, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, cause(err)
	}
	return newFile(f)
}

func newFile(f *os.File) (*file, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(cause(err), f.Close())
	}
	return &file{f, info}, nil
}

func (f *file) size() int64 { return f.info.Size() }

// regular returns errFolder or errSpecial unless the file is regular.
func (f *file) regular() error { return regular(f.info.Mode()) }

// isAt reports whether path itself, not a link, is this file.
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
