package durable

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/plainfile"
)

// system is the disk under a write. Tests replace it with a disk that fails its k-th operation or
// loses data that were never synced.
type system interface {
	lstat(name string) (fs.FileInfo, error)
	open(name string, flag int) (io.ReadCloser, error)
	create(name string, perm fs.FileMode) (file, error)
	rename(from, to string) error
	remove(name string) error
	mkdir(dir string, perm fs.FileMode) error
	syncDir(dir string) error
}

type file interface {
	Name() string
	Write(p []byte) (int, error)
	Stat() (fs.FileInfo, error)
	Chown(uid, gid int) error
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

type disk struct{}

func (disk) lstat(name string) (fs.FileInfo, error)   { return os.Lstat(name) }
func (disk) rename(from, to string) error             { return os.Rename(from, to) }
func (disk) remove(name string) error                 { return os.Remove(name) }
func (disk) mkdir(dir string, perm fs.FileMode) error { return os.Mkdir(dir, perm) }
func (disk) syncDir(dir string) error                 { return SyncDir(dir) }

func (disk) open(name string, flag int) (io.ReadCloser, error) {
	return os.OpenFile(name, flag, 0)
}

func (disk) create(name string, perm fs.FileMode) (file, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// createTemp makes a file beside target under an unused name.
func createTemp(sys system, target string, perm fs.FileMode) (file, string, error) {
	for {
		name := filepath.Join(filepath.Dir(target), fmt.Sprintf("%s%016x", tempPrefix(target), rand.Uint64()))
		f, err := sys.create(name, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, name, err
	}
}

// tempPrefix returns the beginning of the name of every temporary file of target. Instead of a long
// name it uses the name's hash, because a long name with a suffix would not fit into a folder
// entry.
func tempPrefix(target string) string {
	base := filepath.Base(target)
	if len(base) > 200 {
		base = fmt.Sprintf("%x", sha256.Sum256([]byte(base)))
	}
	return "." + base + ".tmp-"
}

// TargetOf returns the file that a temporary file was made for, or path if its name is none of a temporary
// file. It does not know the target of a long name.
func TargetOf(path string) string {
	dir, name := filepath.Split(path)
	base, random, found := strings.Cut(strings.TrimPrefix(name, "."), ".tmp-")
	if !found || len(random) != 16 || !strings.HasPrefix(name, ".") {
		return path
	}
	return dir + base
}

// Sweep removes the temporary files of killed writes to path. It also makes the name of path
// durable: a killed write may have renamed the file without a sync, and the run acts on the bytes
// that it reads. Call it only while no other writer of path can be at work.
func Sweep(path string) error {
	if err := sweep(disk{}, path); err != nil {
		return fmt.Errorf("sweep %s: %w", path, err)
	}
	return nil
}

func sweep(sys system, path string) error {
	target, err := followLinks(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	temps, err := listTemps(dir, tempPrefix(target))
	if err != nil {
		return err
	}
	for _, name := range temps {
		err = errors.Join(err, sys.remove(filepath.Join(dir, name)))
	}
	return errors.Join(err, sys.syncDir(dir))
}

// listTemps lists the temporary files with a prefix. It reads 100 names at a time, because the
// folder may be large, with a thousand boards in it.
func listTemps(dir, prefix string) (temps []string, err error) {
	d, err := plainfile.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(100)
		for _, name := range names {
			if isTemp(name, prefix) && isRegular(filepath.Join(dir, name)) {
				temps = append(temps, name)
			}
		}
		if errors.Is(err, io.EOF) {
			return temps, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func isTemp(name, prefix string) bool {
	random, ok := strings.CutPrefix(name, prefix)
	return ok && len(random) == 16 && strings.Trim(random, "0123456789abcdef") == ""
}

func isRegular(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}
