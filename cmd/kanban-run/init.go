package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

//go:embed all:start
var startFiles embed.FS

func initCommand() command {
	return command{
		name: "init", args: "[DIR]", summary: "a board and a task to start from",
		long: `
Writes kanban.yaml, a first task, .kanban-run.yaml and an example of a role of your own into DIR (default: here). Nothing that
exists is touched.`,
		setup: func(*pflag.FlagSet) func(*terminal, []string) (int, error) {
			return func(t *terminal, args []string) (int, error) {
				dir := "."
				switch {
				case len(args) == 1:
					dir = args[0]
				case len(args) > 1:
					return 0, &usageError{text: "init takes one folder", hint: "kanban-run init demo"}
				}
				return exitComplete, writeStart(t, dir)
			}
		},
	}
}

// writeStart copies the start files into dir. It checks all names before it writes: a file that
// exists leaves the folder as it is.
func writeStart(t *terminal, dir string) error {
	files := map[string][]byte{}
	var names []string
	err := fs.WalkDir(startFiles, "start", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := startFiles.ReadFile(name)
		rel, relErr := filepath.Rel("start", filepath.FromSlash(name))
		path := filepath.Join(dir, rel)
		if exists(path) {
			return &usageError{text: path + " exists already", hint: "kanban-run init DIR starts in a folder of its own"}
		}
		files[path] = data
		names = append(names, path)
		return errors.Join(err, relErr)
	})
	if err != nil {
		return err
	}
	for _, path := range names {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		if err := os.WriteFile(path, files[path], 0o644); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		if err := t.stdout.Printf("wrote %s\n", path); err != nil {
			return err
		}
	}
	where := ""
	if dir != "." {
		where = "cd " + dir + " && "
	}
	return t.stdout.Printf("\nnext: %skanban-run --dry-run kanban.yaml\n", where)
}
