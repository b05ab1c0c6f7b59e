package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LookPath returns the absolute path of a program. A name with a slash is relative to dir. A name
// without a slash is searched for in the folders of PATH. Errors: *StartError.
func LookPath(name, dir string) (string, error) {
	path := name
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) {
		path = filepath.Join(dir, name)
	}
	found, err := exec.LookPath(path)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		_, beside := os.Stat(filepath.Join(dir, name))
		return "", &StartError{Argv0: name, Err: causeOf(err), beside: beside == nil}
	}
	return found, nil
}

// causeOf returns an error of exec without the program's name, which StartError tells itself.
func causeOf(err error) error {
	var inner *exec.Error
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// SearchPath is a list of folders, as in the variable PATH, that agents cannot fill. It is for a
// program that is handed more than agents are, and for what such a program starts.
type SearchPath []string

// OutsideOf returns the folders of PATH without the relative ones, and without those in the given
// folders, such as the work tree: in it by their names or through a symbolic link. An activated
// virtual environment is such a folder.
func OutsideOf(within ...string) SearchPath {
	var outside SearchPath
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(folder) && !isInAny(within, folder) {
			outside = append(outside, folder)
		}
	}
	return outside
}

// Look returns the path of the first program of that name. Errors: *StartError.
func (s SearchPath) Look(name string) (string, error) {
	for _, folder := range s {
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return "", &StartError{Argv0: name, Err: exec.ErrNotFound}
}

// Entry returns the list as an entry of an environment.
func (s SearchPath) Entry() string {
	return "PATH=" + strings.Join(s, string(filepath.ListSeparator))
}

func isInAny(folders []string, path string) bool {
	for _, folder := range folders {
		if isWithin(folder, path) || isWithin(realPath(folder), realPath(path)) {
			return true
		}
	}
	return false
}

func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// realPath resolves the symbolic links of a path, also of one that is not there yet, because an agent
// may make it later. It follows a limited number of links.
func realPath(path string) string { return follow(path, 40) }

func follow(path string, links int) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if to, err := os.Readlink(path); err == nil && links > 0 {
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		return follow(to, links-1)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(follow(parent, links), filepath.Base(path))
}
