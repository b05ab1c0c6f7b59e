// Package rundir is the folder of a board's runs: the names of its files, and how each is written.
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/durable"
)

// Dir is the folder .kanban-run/runs/BOARDFILE/ beside a board.
type Dir struct{ Path string }

// Of is the folder of the board at a path whose links are resolved.
func Of(boardPath string) Dir {
	return Dir{filepath.Join(filepath.Dir(boardPath), ".kanban-run", "runs", filepath.Base(boardPath))}
}

// BoardFile is the name of the board's file, after which the folder is named.
func (d Dir) BoardFile() string { return filepath.Base(d.Path) }

// Journal is the path of the journal.
func (d Dir) Journal() string { return filepath.Join(d.Path, "journal.jsonl") }

// Lock is the path of the file that the owner of the board has locked.
func (d Dir) Lock() string { return filepath.Join(d.Path, "lock") }

// State is the path of state.md.
func (d Dir) State() string { return filepath.Join(d.Path, "state.md") }

// Health is the path of health.yaml.
func (d Dir) Health() string { return filepath.Join(d.Path, "health.yaml") }

// Log is the path of supervisor-log.md.
func (d Dir) Log() string { return filepath.Join(d.Path, "supervisor-log.md") }

// Before is the path of the copy of the board that was made before the last turn.
func (d Dir) Before() string { return filepath.Join(d.Path, "board.before") }

// After is the path of the copy of the board as an agent left it, whose changes were taken back.
func (d Dir) After() string { return filepath.Join(d.Path, "board.after") }

// Carried are the names in the folder that a run in another place needs to go on, or a
// person to see what happened.
func (d Dir) Carried() []string {
	return []string{"journal.jsonl", "journal.jsonl.head", "inputs", "board.before", "board.after", "state.md", "supervisor-log.md", "artifacts", "wisdom", "team-session.json", "teardown.md"}
}

// output is the folder of what the program at work prints.
func (d Dir) output() string { return filepath.Join(d.Path, "output") }

// Steps is the folder of the streams that were kept.
func (d Dir) Steps() string { return filepath.Join(d.Path, "steps") }

// Scratch is the folder of files whose names are given to agents' programs.
func (d Dir) Scratch() string { return filepath.Join(d.Path, "handed") }

// Output is the folder with the streams that were kept of a step, or "" if there are none.
func (d Dir) Output(step int) string {
	path := filepath.Join(d.Steps(), stepName(step))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

func stepName(n int) string { return fmt.Sprintf("%04d", n) }

// Ensure creates the folder, readable by its owner only, and keeps the folder of all runs out of
// git: what agents said is for the owner alone.
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

// ignore writes .gitignore, unless it has content: its author may want the runs in git. It needs no
// sync: after a power cut it is missing or empty, and the next run writes it.
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

// linkError is a link in the place of a run's folder: through it two boards could share one
// journal, or a run could write elsewhere.
type linkError struct{ path string }

func (e *linkError) Error() string { return e.path + " is a link, not a folder" }

// Hint says how to keep the files of runs elsewhere.
func (e *linkError) Hint() string {
	return "remove the link; to keep the files of runs elsewhere, make .kanban-run itself a link"
}

// Live is the file that says what the agent at work does.
func (d Dir) Live() string { return filepath.Join(d.Path, "live.json") }

// Inbox is the folder where other processes leave messages for the run.
func (d Dir) Inbox() string { return filepath.Join(d.Path, "inbox") }

// MakeInbox makes that folder.
func (d Dir) MakeInbox() error { return makeFolder(d.Inbox()) }
