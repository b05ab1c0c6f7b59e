package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// files is the number of tasks that have a file: a little more than the steps that most rows run.
const files = 201

// viewedTasks is the size of the board whose page is looked at. All its tasks have a file, because a page
// shows each step of a task beside the others.
const viewedTasks = 600

// makeBoard returns a folder with a board of n tasks. It makes the folder at the first call.
func (l *lab) makeBoard(n int) (string, error) {
	dir := l.path(fmt.Sprintf("board-%d", n))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Join(dir, "tasks"), 0o755); err != nil {
		return "", err
	}
	f, err := os.Create(filepath.Join(dir, "kanban.source"))
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "phase: execute\ncurrent: %s\ntasks:\n", taskName(1))
	for i := 1; i <= n; i++ {
		fmt.Fprintf(w, "  - %s\n", taskName(i))
		if i <= files || n == viewedTasks {
			text := fmt.Sprintf("---\nid: %[1]d\nrole: Implementor\ntitle: Do thing %[1]d\ntags: [a, b]\n---\n\n"+
				"# Task %[1]d\n\n## Work Log\n", i)
			if err := os.WriteFile(filepath.Join(dir, taskName(i)), []byte(text), 0o644); err != nil {
				return "", err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return dir, f.Close()
}

func taskName(i int) string { return fmt.Sprintf("tasks/%06d-implement-thing.md", i) }

// freshBoard returns the folder of makeBoard, with the board as it was before any run.
func (l *lab) freshBoard(n int) (string, error) {
	dir, err := l.makeBoard(n)
	if err == nil {
		err = resetBoard(dir)
	}
	return dir, err
}

// resetBoard restores the first state of a board and removes the files of its runs.
func resetBoard(dir string) error {
	source, err := os.ReadFile(filepath.Join(dir, "kanban.source"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, ".kanban-run")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "kanban.yaml"), source, 0o644)
}
