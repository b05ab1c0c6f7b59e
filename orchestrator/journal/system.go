package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"kanban-run/orchestrator/durable"
)

// system is the disk under a journal. Tests replace it with a disk that fails its k-th operation or
// loses data that were never synced.
type system interface {
	read(path string, max int64) ([]byte, error) // reads the first max bytes
	open(path string, make bool) (file, error)   // opens a file for reading and writing
	create(path string) (file, error)            // returns fs.ErrExist if the name is taken
	syncDir(dir string) error
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	// Lock keeps other writers away until Close. Errors: *durable.HeldError.
	Lock() error
	// SizeByPath returns the size of the file at the path by which this file was opened. It returns
	// fs.ErrNotExist if the path leads to another file or does not exist.
	SizeByPath() (size int64, err error)
}

type disk struct{}

// create follows no link: if a link has the name, the name counts as taken, even if the link leads
// nowhere.
func (disk) create(path string) (file, error) {
	return wrapFile(os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))
}

func (disk) syncDir(dir string) error { return durable.SyncDir(dir) }

func (disk) open(path string, make bool) (file, error) {
	flag := os.O_RDWR
	if make {
		flag |= os.O_CREATE
	}
	f, err := durable.OpenPlain(path, flag, 0o600)
	if durable.HasNames(err) && durable.Separate(path) == nil { // a backup by hard links, also during a run
		f, err = durable.OpenPlain(path, flag, 0o600)
	}
	return wrapFile(f, err)
}

func (disk) read(path string, max int64) ([]byte, error) { return durable.ReadPlain(path, max) }

type diskFile struct {
	*os.File
	locked bool
}

func wrapFile(f *os.File, err error) (file, error) {
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f}, nil
}

func (f *diskFile) Sync() error { return durable.SyncData(f.File) }

// dyingTime bounds the wait for a killed writer to release the journal's lock. The system closes
// that writer's files one after the other, so the board's lock may be free before the journal's.
const dyingTime = time.Second

func (f *diskFile) Lock() error {
	for end := time.Now().Add(dyingTime); ; time.Sleep(dyingTime / 100) {
		err := durable.TryLock(f.File)
		if f.locked = err == nil; f.locked || !errors.As(err, new(*durable.HeldError)) || time.Now().After(end) {
			return err
		}
	}
}

func (f *diskFile) Close() error {
	if !f.locked {
		return f.File.Close()
	}
	f.locked = false
	return errors.Join(durable.Unlock(f.File), f.File.Close())
}

// SizeByPath follows no link, not even one to this very file.
func (f *diskFile) SizeByPath() (int64, error) {
	info, err := os.Lstat(f.Name())
	if errors.Is(err, syscall.ENOTDIR) { // a file is in the place of the folder
		return 0, fs.ErrNotExist
	}
	if err != nil {
		return 0, err
	}
	own, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !os.SameFile(info, own) {
		return 0, fs.ErrNotExist
	}
	return info.Size(), nil
}
