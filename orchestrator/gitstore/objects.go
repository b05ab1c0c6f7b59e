package gitstore

import (
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/plainfile"
)

// apart calls the function do. During the call, git writes new objects into a separate folder,
// which is beside git's own folder of objects and out of reach of git gc. Afterwards the separate
// folder is removed, so that the objects of a refused checkpoint are not kept. If the function
// returns an error, the index is restored, too.
func (s *Store) apart(do func() error) error {
	folder := filepath.Join(s.repo.Common, fmt.Sprintf("kanban-run-objects-%.8x", sha256.Sum256([]byte(s.Runs))))
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	before := s.index
	s.objects = folder
	err := do()
	s.objects = ""
	if err != nil {
		s.index = before
	}
	return errors.Join(err, os.RemoveAll(folder))
}

// takeIn moves the objects from the separate folder (see apart) into the repository's folder of
// objects, durably. It moves a pack before the index file of that pack, since git looks for the pack
// as soon as it sees the index file. An object that has appeared in the repository meanwhile is
// replaced: an agent may have written it.
func (s *Store) takeIn() error {
	var names []string
	err := filepath.WalkDir(s.objects, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(s.objects, path)
			if strings.HasSuffix(rel, ".idx") {
				names = append(names, rel)
			} else {
				names = append([]string{rel}, names...)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	folders := map[string]bool{s.repo.Objects: true}
	for _, name := range names {
		from, to := filepath.Join(s.objects, name), filepath.Join(s.repo.Objects, name)
		if err := syncFile(from); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		err := os.Rename(from, to)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.Mkdir(filepath.Dir(to), 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				err = os.Rename(from, to)
			}
		}
		if err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		folders[filepath.Dir(to)] = true
	}
	return syncFolders(slices.Collect(maps.Keys(folders)))
}

// syncRef makes the branch durable. Git syncs neither the file of a reference before version 2.36,
// nor a folder in any. A repository whose references are not files is left to git.
func (s *Store) syncRef() error {
	file := filepath.Join(s.repo.Common, filepath.FromSlash(s.ref))
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := syncFile(file); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	var folders []string
	for dir := filepath.Dir(file); dir != s.repo.Common && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		folders = append(folders, dir)
	}
	return syncFolders(folders)
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func syncFile(path string) error {
	f, err := plainfile.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncFolders(folders []string) error {
	for _, dir := range folders {
		if err := durable.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // git gc has packed what it had
			return fmt.Errorf("commit: %w", err)
		}
	}
	return nil
}

// forgedError is the error for objects whose contents are not those that their names stand for. It
// counts as an *UnfitError.
type forgedError struct {
	UnfitError
	objects []object
}

func (e *forgedError) Unwrap() error { return &e.UnfitError }

func newForgedError(objects []object) *forgedError {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = cmp.Or(o.path, o.id)
	}
	return &forgedError{
		UnfitError{"an object of the repository does not have the contents that its name stands for: " + event.List(names, mostForged),
			"git fsck names it; repair the repository, for example from a clone; then the same command goes on"},
		objects,
	}
}

// mostForged bounds the forged objects that are named.
const mostForged = 3

// removeForged removes forged objects from the repository, if each is a file of its own there, and
// new. Otherwise it returns the error forged.
func (s *Store) removeForged(forged *forgedError) error {
	for _, o := range forged.objects {
		path := filepath.Join(s.repo.Objects, o.id[:2], o.id[2:])
		if o.old || !isForged(path, o.id) {
			return forged
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	s.Notice("an agent or a broken disk has put other contents in place of an object of git, which is made anew: " + forged.Text)
	return nil
}

// isForged reports whether a loose object does not have the contents that its name stands for. An
// object that cannot be opened or read may have them.
func isForged(path, id string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return err == nil
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	h := sha1.New()
	if len(id) == 2*sha256.Size {
		h = sha256.New()
	}
	unzipped, err := zlib.NewReader(f)
	if err == nil {
		_, err = io.Copy(h, unzipped)
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) { // the disk, and not what is on it
		return false
	}
	return err != nil || hex.EncodeToString(h.Sum(nil)) != id
}
