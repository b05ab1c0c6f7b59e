package trust

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// Copy is a command with the bytes of its files in the work tree as a command of kanban-run has begun with
// them: a task that mends a script for notifications does not silence the night.
type Copy struct {
	argv  []string
	dir   string
	files []copied
}

type copied struct {
	path string
	text []byte
	mode os.FileMode
}

// maxCopied bounds a file that is copied, in bytes.
const maxCopied = 16 << 20

// CopyOf reads the files of a command, whose program is at path.
func CopyOf(argv []string, path, dir string) *Copy {
	c := &Copy{argv: append([]string{path}, argv[1:]...), dir: dir}
	for _, file := range Files(argv, path, dir, git.TopOf(dir), false) {
		info, err := os.Stat(file)
		text, failed := plainfile.Read(file, maxCopied)
		if errors.Join(err, failed) == nil {
			c.files = append(c.files, copied{file, text, info.Mode().Perm()})
		}
	}
	return c
}

// Words returns the words with which the command starts, and a function that removes what was made for
// that. A file with other bytes than at the begin is replaced by a copy with those.
func (c *Copy) Words() (argv []string, remove func() error, err error) {
	argv, remove = slices.Clone(c.argv), func() error { return nil }
	for _, f := range c.files {
		if now, err := plainfile.Read(f.path, maxCopied); err == nil && bytes.Equal(now, f.text) {
			continue
		}
		dir, err := os.MkdirTemp("", "kanban-run-begin-")
		if err != nil {
			return nil, remove, err
		}
		before := remove
		remove = func() error { return errors.Join(before(), os.RemoveAll(dir)) }
		copyPath := filepath.Join(dir, filepath.Base(f.path))
		if err := os.WriteFile(copyPath, f.text, f.mode|0o400); err != nil {
			return nil, remove, err
		}
		for i, word := range argv {
			argv[i] = c.replace(word, f.path, copyPath)
		}
	}
	return argv, remove, nil
}

// replace replaces a file in a word of the command, or in the text of a shell.
func (c *Copy) replace(word, file, by string) string {
	if resolve(c.dir, word) == file {
		return by
	}
	for _, part := range strings.FieldsFunc(word, isShells) {
		if part != word && resolve(c.dir, part) == file {
			word = strings.ReplaceAll(word, part, by)
		}
	}
	return word
}
