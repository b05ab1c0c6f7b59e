package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/plainfile"
)

// fix repairs a board and returns its changes.
func (u *setup) fix(name string) ([]string, error) {
	source, err := board.ReadFile(name)
	if err != nil {
		return nil, &invalidSettings{err}
	}
	fixed, notes, err := board.Fix(name, source, u.findFolder(name))
	if err != nil {
		return nil, &invalidSettings{err}
	}
	if len(notes) > 0 {
		if err := board.Save(name, fixed); err != nil {
			return nil, fmt.Errorf("fix %s: %w", name, err)
		}
	}
	more, err := u.fixTasks(name, fixed)
	return append(notes, more...), err
}

// fixTasks repairs the headers of a board's tasks, and returns its changes.
func (u *setup) fixTasks(name string, source []byte) (all []string, err error) {
	b, err := board.Parse(name, source)
	if err != nil {
		return nil, nil // check reports the error
	}
	place, err := u.place(name, b)
	if err != nil {
		return nil, nil
	}
	for i := range b.Len() {
		ref, err := place.Resolve(b.Entry(i).Path)
		if err != nil {
			continue
		}
		file := filepath.Join(place.Dir(), filepath.FromSlash(ref.Path))
		text, err := plainfile.Read(file, maxTask)
		if err != nil {
			continue
		}
		fixed, notes, ok := board.FixTask(ref.Path, text)
		if !ok {
			continue
		}
		if err := board.Save(file, fixed); err != nil {
			return all, fmt.Errorf("fix %s: %w", ref.Path, err)
		}
		for _, note := range notes {
			all = append(all, ref.Path+": "+note)
		}
	}
	return all, nil
}

// maxTask is the greatest length of a task file that --fix repairs, in bytes.
const maxTask = 1 << 20

// findFolder returns a function for the case that the board's key `current` is a bare file name.
// The function puts the board's folder, relative to u.dir, before the name. It returns true only if
// the file is in the board's folder and is missing in u.dir.
func (u *setup) findFolder(name string) func(string) (string, bool) {
	abs, absErr := filepath.Abs(name)
	folder, relErr := filepath.Rel(u.dir, filepath.Dir(abs))
	return func(bare string) (string, bool) {
		if absErr != nil || relErr != nil || folder == "." || !filepath.IsLocal(folder) ||
			exists(filepath.Join(u.dir, bare)) {
			return "", false
		}
		info, err := os.Stat(filepath.Join(u.dir, folder, bare))
		if err != nil || !info.Mode().IsRegular() {
			return "", false
		}
		return path.Join(filepath.ToSlash(folder), bare), true
	}
}
