// Package rundir names the files in the folder of a board's runs, and reads and writes them.
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/durable"
)

// Dir is the folder .kanban-run/runs/BOARDFILE/ beside a board.
type Dir struct{ Path string }

// Of returns the folder for a board. The path of the board must have its links resolved.
func Of(boardPath string) Dir {
	return Dir{filepath.Join(filepath.Dir(boardPath), ".kanban-run", "runs", filepath.Base(boardPath))}
}

// BoardFile returns the name of the board's file, which is also the name of the folder.
func (d Dir) BoardFile() string { return filepath.Base(d.Path) }

// Journal returns the path of the journal.
func (d Dir) Journal() string { return filepath.Join(d.Path, "journal.jsonl") }

// Lock returns the path of the file that the owner of the board has locked.
func (d Dir) Lock() string { return filepath.Join(d.Path, "lock") }

// State returns the path of state.md.
func (d Dir) State() string { return filepath.Join(d.Path, "state.md") }

// Health returns the path of health.yaml.
func (d Dir) Health() string { return filepath.Join(d.Path, "health.yaml") }

// Log returns the path of supervisor-log.md.
func (d Dir) Log() string { return filepath.Join(d.Path, "supervisor-log.md") }

// Before returns the path of the copy of the board that was made before the last turn.
func (d Dir) Before() string { return filepath.Join(d.Path, "board.before") }

// After returns the path of the copy of the board as an agent left it, before the agent's changes
// were undone.
func (d Dir) After() string { return filepath.Join(d.Path, "board.after") }

// TasksAfter returns the folder of the copies of tasks as an agent left them, before the agent's
// marks in their headers were undone.
func (d Dir) TasksAfter() string { return filepath.Join(d.Path, "tasks.after") }

// KeepTask copies a task's file into the folder of TasksAfter. A copy of other content stays there,
// and the new one gets a number.
func (d Dir) KeepTask(task string, data []byte) error {
	if err := makeFolder(d.TasksAfter()); err != nil {
		return err
	}
	path := filepath.Join(d.TasksAfter(), url.PathEscape(task))
	for n, at := 2, path; n < mostCopies; n++ {
		old, err := ReadFile(at)
		if errors.Is(err, fs.ErrNotExist) || err == nil && string(old) == string(data) {
			return OverwriteFile(at, data)
		}
		at = fmt.Sprintf("%s.%d", path, n)
	}
	return OverwriteFile(path, data)
}

// mostCopies bounds the copies of one task's file.
const mostCopies = 100

// Carried returns the names of the files and folders that a run in another place needs to continue,
// or that a person needs to see what happened.
func (d Dir) Carried() []string {
	return []string{
		"journal.jsonl", "journal.jsonl.head", "inputs", "board.before", "board.after", "tasks.after",
		"state.md", "supervisor-log.md",
		"artifacts", "wisdom", "team-session.json", "teardown.md",
	}
}

// output returns the folder of the streams of the program at work.
func (d Dir) output() string { return filepath.Join(d.Path, "output") }

// Steps returns the folder of the streams of finished attempts.
func (d Dir) Steps() string { return filepath.Join(d.Path, "steps") }

// Scratch returns the folder of files whose names are given to agents' programs.
func (d Dir) Scratch() string { return filepath.Join(d.Path, "handed") }

// Output returns the folder of the kept streams of a step, or "" if it does not exist.
func (d Dir) Output(step int) string {
	path := filepath.Join(d.Steps(), stepName(step))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

func stepName(n int) string { return fmt.Sprintf("%04d", n) }

// Ensure creates the folder, and makes git ignore the folder of all runs. Only the owner of the
// folder may read it, since it has the output of agents.
func (d Dir) Ensure() error {
	for _, dir := range []string{filepath.Dir(d.Path), d.Path, d.Steps(), d.output(), d.inputs()} {
		if info, err := os.Lstat(dir); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return &linkError{dir}
		}
	}
	if err := durable.MkdirAll(d.Path, 0o700); err != nil {
		return fmt.Errorf("create the run's folder: %w", err)
	}
	// A folder that was copied or restored may be open to other users.
	if info, err := os.Stat(d.Path); err != nil || info.Mode().Perm() != 0o700 {
		if err := errors.Join(err, os.Chmod(d.Path, 0o700)); err != nil {
			return fmt.Errorf("close the run's folder to others: %w", err)
		}
	}
	return d.ignore()
}

// CheckWritable returns an error if a run could not keep its files in the folder, or in the nearest
// folder above it that exists. It writes nothing.
func (d Dir) CheckWritable() error {
	at := d.Path
	for !isFolder(at) && at != filepath.Dir(at) {
		at = filepath.Dir(at)
	}
	if err := durable.CheckFolder(at); err != nil {
		return fmt.Errorf("keep the files of runs: %w", err)
	}
	for _, path := range []string{d.Lock(), d.Journal()} {
		if err := durable.CheckWrite(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// ignore writes .gitignore, unless that file has content: its author may want the runs in git. It
// does not sync: if a power cut leaves the file missing or empty, the next run writes it.
func (d Dir) ignore() error {
	path := filepath.Join(filepath.Dir(d.Path), ".gitignore")
	info, err := os.Lstat(path)
	if err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return OverwriteFile(path, []byte("*\n"))
}

// linkError is the error for a link in the place of a run's folder. Through the link two boards
// could share one journal, or a run could write elsewhere.
type linkError struct{ path string }

func (e *linkError) Error() string { return e.path + " is a link, not a folder" }

// Hint names a supported way to keep the files of runs elsewhere.
func (e *linkError) Hint() string {
	return "remove the link; to keep the files of runs elsewhere, make .kanban-run itself a link"
}

// Live returns the path of the file about the agent at work.
func (d Dir) Live() string { return filepath.Join(d.Path, "live.json") }

// Inbox returns the folder where other processes leave messages for the run.
func (d Dir) Inbox() string { return filepath.Join(d.Path, "inbox") }

// MakeInbox makes the folder of Inbox.
func (d Dir) MakeInbox() error { return makeFolder(d.Inbox()) }
