package board

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// opened is a board that is open for reading.
type opened interface {
	io.ReadCloser
	size() int64
	regular() error                      // errFolder or errSpecial when it is one
	is(path string) (ok bool, err error) // whether path itself is this file, and no link to it
}

// portable is a board opened as every system can; where there is a shorter way, it is that one's oracle.
type portable struct {
	*os.File
	info fs.FileInfo
}

func openPortable(path string) (opened, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, cause(err)
	}
	return opening(f)
}

func opening(f *os.File) (opened, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(cause(err), f.Close())
	}
	return &portable{f, info}, nil
}

func (p *portable) size() int64 { return p.info.Size() }

func (p *portable) regular() error { return regular(p.info.Mode()) }

func (p *portable) is(path string) (bool, error) {
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(named, p.info), err
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
