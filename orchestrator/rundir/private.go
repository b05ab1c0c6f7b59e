package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"kanban-run/orchestrator/durable"
)

// WriteFile writes a file that only its owner may read, without a sync. WriteFile never writes to
// an existing file of that name, but replaces it, because an agent could have put a link or a FIFO
// in its place.
func WriteFile(path string, data []byte) error {
	f, err := createFile(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func createFile(path string) (*os.File, error) {
	if err := clear(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// OverwriteFile is like WriteFile, but for a file that is written in every step. It writes into an
// existing file if only the owner may read it, because a new inode is the most expensive part of a
// short step.
func OverwriteFile(path string, data []byte) error {
	f, err := openPrivate(path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil && info.Size() > int64(len(data)) {
		err = f.Truncate(int64(len(data)))
	}
	return errors.Join(err, f.Close())
}

// openPrivate opens a file for writing, at its beginning. It replaces a file that is not regular or
// that others may read.
func openPrivate(path string) (*os.File, error) {
	f, err := durable.OpenPlain(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return createFile(path)
	}
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		_ = f.Close()
		return createFile(path)
	}
	return f, nil
}

// ReplaceFile is like WriteFile, but for a file that a person may be reading: a reader sees either
// the whole old file or the whole new file.
func ReplaceFile(path string, data []byte) error {
	temp := path + ".new"
	if err := WriteFile(temp, data); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		if err := clear(path); err != nil {
			return err
		}
	}
	return os.Rename(temp, path)
}

// RemoveForeign removes anything but a regular file from the path of a run's file, because reading
// a FIFO could wait for ever, and writing through a link could change another file.
func RemoveForeign(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	return clear(path)
}

// making is the lock that is held while a folder is made. Both streams of a program need the same
// folder. Without the lock, one stream could remove the folder that the other has just made.
var making sync.Mutex

// makeFolder makes a folder of the run if it does not exist. It removes a file or link that an
// agent put in its place, and follows no link. It makes no folder above it, because a run's folder
// that was moved or removed must not be made anew.
func makeFolder(path string) error {
	making.Lock()
	defer making.Unlock()
	if isFolder(path) && isFolder(filepath.Dir(path)) {
		return nil
	}
	if !isFolder(filepath.Dir(path)) {
		return fmt.Errorf("%s is not the folder of the run", filepath.Dir(path))
	}
	if err := clear(path); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// clear removes the file or folder at path. It renames a folder that is not empty, since the run
// did not make it.
func clear(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, look := os.Lstat(path); look != nil || !info.IsDir() {
		return err
	}
	return os.Rename(path, FreeName(path, "aside"))
}

// FreeName returns an unused name beside path: PATH.WHY-1, PATH.WHY-2, …
func FreeName(path, why string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.%s-%d", path, why, n)
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}
