package gitstore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// apart calls the function do. During the call, git writes new objects into a separate folder,
// which is beside git's own folder of objects and out of reach of git gc. Afterwards the separate
// folder is removed, so that the objects of a refused checkpoint are not kept. If the function
// returns an error, the index is restored, too.
func (s *Store) apart(do func() error) error {
	folder := filepath.Join(s.repo.Common, fmt.Sprintf("kanban-run-objects-%.8x", sha256.Sum256([]byte(s.Runs))))
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
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
// objects. It moves a pack before the index file of that pack, since git looks for the pack as soon
// as it sees the index file.
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
		return fmt.Errorf("checkpoint: %w", err)
	}
	for _, name := range names {
		to := filepath.Join(s.repo.Objects, name)
		if _, err := os.Lstat(to); err == nil {
			continue // an object of this name has the same contents
		}
		err := os.Rename(filepath.Join(s.objects, name), to)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.Mkdir(filepath.Dir(to), 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				err = os.Rename(filepath.Join(s.objects, name), to)
			}
		}
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}
