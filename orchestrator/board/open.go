package board

import (
	"errors"
	"io/fs"
	"os"
)

// file is a file that is open for reading.
type file struct {
	*os.File
	info fs.FileInfo
}

func open(path string) (*file, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, cause(err)
	}
	return opening(f)
}

func opening(f *os.File) (*file, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(cause(err), f.Close())
	}
	return &file{f, info}, nil
}

func (f *file) size() int64 { return f.info.Size() }

// regular returns errFolder or errSpecial for a file that is neither text nor could be.
func (f *file) regular() error { return regular(f.info.Mode()) }

// is says whether path itself is this file, and no link to it.
func (f *file) is(path string) (bool, error) {
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
