package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"kanban-run/orchestrator/durable"
)

// system is what a journal does to the disk. Tests put one in its place that
// fails its k-th operation or forgets what was never synced.
type system interface {
	read(path string, max int64) ([]byte, error) // the first max bytes
	open(path string, make bool) (file, error)   // to read and write
	create(path string) (file, error)            // fs.ErrExist when it is there
	syncDir(dir string) error
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	// Named returns the size of the file now under the path that this one was
	// opened by, and fs.ErrNotExist when that is another file or none.
	Named() (size int64, err error)
}

type disk struct{}

func (disk) create(path string) (file, error) { return openFile(path, os.O_CREATE|os.O_EXCL) }
func (disk) syncDir(dir string) error         { return durable.SyncDir(dir) }

func (disk) open(path string, make bool) (file, error) {
	if make {
		return openFile(path, os.O_CREATE)
	}
	return openFile(path, 0)
}

func (disk) read(path string, max int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max))
}

type diskFile struct {
	*os.File
	info fs.FileInfo
}

func openFile(path string, flag int) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := regular(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &diskFile{File: f, info: info}, nil
}

func regular(f *os.File) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: errors.New("not a regular file")}
	}
	return info, err
}

func (f *diskFile) Sync() error { return durable.SyncData(f.File) }

func (f *diskFile) Named() (int64, error) {
	info, err := os.Stat(f.Name())
	if err != nil {
		return 0, err
	}
	if !os.SameFile(info, f.info) {
		return 0, fs.ErrNotExist
	}
	return info.Size(), nil
}
