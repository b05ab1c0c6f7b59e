package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// change is a file that differs between a commit and a checkpoint. The fields "was" and "is" hold
// the object names of its old and new contents, and the field "name" holds its path. An object name
// of zeros stands for a missing file.
type change struct{ was, is, name string }

func (c change) isRemoved() bool { return strings.Trim(c.is, "0") == "" }

// changes lists the files that differ between the commit base and the checkpoint tip. A base of ""
// stands for a commit without files. The list always has all files of the run's folder, because on
// disk they may be in any state, or missing.
func (s *Store) changes(stop context.Context, base, tip string) (all []change, err error) {
	if base == "" {
		base = emptyTree(tip)
	}
	for _, diff := range [][]string{
		{base, tip, "--", ".", ":(exclude,top,literal)" + s.inTree},
		{emptyTree(tip), tip, "--", ":(top,literal)" + s.inTree},
	} {
		args := append([]string{"diff-tree", "-r", "-z", "--raw", "--no-renames"}, diff...)
		out, err := s.own(stop, git.Call{Raw: true}, nil, args...)
		if err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
		fields := strings.Split(out, "\x00")
		for i := 0; i+1 < len(fields); i += 2 {
			if about := strings.Fields(fields[i]); len(about) == 5 && about[0] != ":160000" { // a repository within is left alone
				all = append(all, change{about[2], about[3], fields[i+1]})
			}
		}
	}
	return all, nil
}

// refuseOverwriting returns an *UnfitError if a change would overwrite a file whose contents are
// neither the old nor the new ones. It does not check the run's folder: no person edits the files
// in that folder, and the local journal is to be overwritten, because the checkpoint's is newer.
func (s *Store) refuseOverwriting(stop context.Context, changes []change) error {
	removed := map[string]bool{}
	for _, c := range changes {
		removed[c.name] = c.isRemoved()
	}
	var doubtful []change // files whose bytes are neither the old nor the new ones
	for _, c := range changes {
		if strings.HasPrefix(c.name, s.inTree+"/") {
			continue
		}
		here, err := s.foreignAt(c, removed)
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		switch here {
		case "":
		case c.name:
			doubtful = append(doubtful, c)
		default:
			return overwritingError(here, c.name)
		}
	}
	return s.refuseUnconverted(stop, doubtful)
}

// foreignAt returns the path of a file that is in the way of a change, or "" if there is no such
// file. A file at the path of the change is in the way if the contents of the file are neither the
// old nor the new ones. A file above or below that path is in the way if the checkpoint does not
// remove the file.
func (s *Store) foreignAt(c change, removed map[string]bool) (string, error) {
	for above := path.Dir(c.name); above != "."; above = path.Dir(above) {
		if info, err := os.Lstat(s.path(above)); err == nil && !info.IsDir() && !removed[above] {
			return above, nil
		}
	}
	info, err := os.Lstat(s.path(c.name))
	switch {
	case err != nil:
		return "", nil
	case info.IsDir():
		return s.foreignBelow(c.name, removed)
	}
	text := []byte(nil)
	if info.Mode()&fs.ModeSymlink != 0 {
		target, failed := os.Readlink(s.path(c.name))
		text, err = []byte(target), failed
	} else {
		text, err = plainfile.Read(s.path(c.name), 1<<40)
	}
	if errors.Is(err, plainfile.ErrKind) {
		return c.name, nil
	}
	if id := git.BlobName(text, len(c.is)); id == c.was || id == c.is {
		return "", err
	}
	return c.name, err
}

// foreignBelow returns a file below dir, or "" if there is none. It ignores the files that the
// checkpoint removes.
func (s *Store) foreignBelow(dir string, removed map[string]bool) (found string, err error) {
	err = filepath.WalkDir(s.path(dir), func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.repo.Top, at)
		if name := filepath.ToSlash(rel); !removed[name] {
			found = name
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

// refuseUnconverted returns an *UnfitError if the contents of a doubtful file are neither the old
// nor the new ones, even after git has converted line ends and encoding.
func (s *Store) refuseUnconverted(stop context.Context, doubtful []change) error {
	for _, c := range doubtful {
		id := ""
		if info, err := os.Lstat(s.path(c.name)); err == nil && info.Mode().IsRegular() {
			if id, err = s.converted(stop, nil, "hash-object", "--", c.name); err != nil {
				return fmt.Errorf("checkpoint: %w", err)
			}
		}
		if id == "" || id != c.was && id != c.is {
			return overwritingError(c.name, c.name)
		}
	}
	return nil
}

// path returns the path of a file, given its name in the repository.
func (s *Store) path(name string) string {
	return filepath.Join(cmp.Or(s.repo.Tree, s.repo.Top), filepath.FromSlash(name))
}

func overwritingError(here, name string) error {
	return &UnfitError{
		fmt.Sprintf("the board has come further elsewhere: %s here would be overwritten by %s of the checkpoint, "+
			"and is in no checkpoint and no commit", here, name),
		"move " + here + " away; then the same command goes on",
	}
}
