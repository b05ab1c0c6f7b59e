package gitstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/rundir"
)

// makeOwn makes the folder in which git works, within the user's .git: a repository folder
// without anything but settings and an index. What a killed git has left locked is freed: this
// process holds the board's lock.
func (s *Store) makeOwn(stop context.Context) error {
	common, err := s.line(stop, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	folder := filepath.Join(common, "kanban-run", strings.ReplaceAll(s.Branch, "/", "-")+fmt.Sprintf("-%.4x", sha256.Sum256([]byte(s.Runs))))
	s.folder = folder
	for _, dir := range []string{"refs", "objects", "info"} {
		if err := os.MkdirAll(filepath.Join(folder, dir), 0o700); err != nil {
			return fmt.Errorf("make the folder of checkpoints: %w", err)
		}
	}
	objects, err := s.line(stop, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	excluded, err := s.excluded(stop)
	if err != nil {
		return err
	}
	settings, err := s.settings(stop)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"HEAD":            "ref: refs/heads/none\n",
		"config":          settings,
		"info/attributes": "* -text -filter -ident -eol -working-tree-encoding\n",
		"info/exclude":    excluded,
	} {
		if err := rundir.ReplaceFile(filepath.Join(folder, name), []byte(text)); err != nil {
			return fmt.Errorf("make the folder of checkpoints: %w", err)
		}
	}
	if err := s.copyShallow(stop, folder); err != nil {
		return err
	}
	if err := errors.Join(removeIfThere(filepath.Join(folder, "index.lock")), s.unlockRef(stop)); err != nil {
		return err
	}
	s.own = s.user
	s.own.Dir = s.top
	s.own.Env = []string{"GIT_DIR=" + folder, "GIT_WORK_TREE=" + s.top, "GIT_OBJECT_DIRECTORY=" + objects, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}
	return nil
}

// settings are those of the store's own folder: what the work tree is, and
// nothing that names a program.
func (s *Store) settings(stop context.Context) (string, error) {
	format, err := s.line(stop, "rev-parse", "--show-object-format")
	if err != nil {
		return "", err
	}
	text := "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tlogallrefupdates = false\n\tautocrlf = false\n\tsafecrlf = false\n"
	for _, name := range []string{"core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"} {
		if value, err := s.line(stop, "config", "--type=bool", "--get", name); err == nil {
			text += "\t" + strings.TrimPrefix(name, "core.") + " = " + value + "\n"
		}
	}
	return text + "[extensions]\n\tobjectformat = " + format + "\n", nil
}

// excluded is what the user's git ignores everywhere.
func (s *Store) excluded(stop context.Context) (string, error) {
	own, err := s.line(stop, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return "", err
	}
	everywhere, err := s.line(stop, "config", "--type=path", "--get", "core.excludesFile")
	if err != nil || everywhere == "" {
		home := os.Getenv("XDG_CONFIG_HOME")
		if home == "" {
			home = filepath.Join(os.Getenv("HOME"), ".config")
		}
		everywhere = filepath.Join(home, "git", "ignore")
	}
	var all strings.Builder
	for _, path := range []string{everywhere, own} {
		text, err := os.ReadFile(path)
		if err == nil {
			all.Write(text)
			all.WriteByte('\n')
		}
	}
	return all.String(), nil
}

// copyShallow tells the store's own folder where the history ends.
func (s *Store) copyShallow(stop context.Context, folder string) error {
	path, err := s.line(stop, "rev-parse", "--path-format=absolute", "--git-path", "shallow")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return removeIfThere(filepath.Join(folder, "shallow"))
	}
	if err != nil {
		return err
	}
	return rundir.ReplaceFile(filepath.Join(folder, "shallow"), text)
}

// unlockRef takes the lock off the branch that a killed git has left.
func (s *Store) unlockRef(stop context.Context) error {
	path, err := s.line(stop, "rev-parse", "--path-format=absolute", "--git-path", s.ref+".lock")
	if err != nil {
		return err
	}
	return removeIfThere(path)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// branchName is a path as the name of a branch. A name that had to be changed ends with
// a part of the path's hash.
func branchName(path string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-/", r):
			return r
		default:
			return '-'
		}
	}, path)
	parts := strings.Split(name, "/")
	for i, part := range parts {
		part = strings.Trim(strings.ReplaceAll(part, "..", "-"), ".")
		parts[i] = strings.TrimSuffix(part, ".lock")
	}
	if name = strings.Join(parts, "/"); name != path {
		name += fmt.Sprintf("-%.4x", sha256.Sum256([]byte(path)))
	}
	return name
}
