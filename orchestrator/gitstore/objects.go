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

// apart calls do and makes git write new objects into a separate folder. It then removes the
// folder, so that the objects of a refused checkpoint are not kept. If do fails, apart restores the
// index, too. The folder is beside git's folder of objects, out of the reach of git gc.
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

// takeIn moves the objects from the separate folder (see apart) into the repository's. It moves a
// pack before the pack's index file, since git looks for a pack once it sees the index.
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
