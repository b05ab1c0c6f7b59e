package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// NoRunError says that a board was never run.
type NoRunError struct{ Board string }

func (e *NoRunError) Error() string { return fmt.Sprintf("%s was never run", e.Board) }

// Hint says how to run it.
func (e *NoRunError) Hint() string { return "kanban-run " + e.Board }

// Inspect replays a board's journal without taking the board, also while it runs, and returns where it stands. each sees
// every entry in order; nil is allowed. Errors: *NoRunError, *journal.DamageError.
func Inspect(boardPath string, each func(flow.Entry) error) (flow.State, journal.Summary, error) {
	var s flow.State
	path, err := JournalPath(boardPath)
	if err != nil {
		return s, journal.Summary{}, err
	}
	sum, err := journal.Read(path, func(r journal.Record) error {
		e, err := decode(r)
		if err != nil {
			return err
		}
		if err := s.Apply(e.Event); err != nil {
			return fmt.Errorf("record %d: %w", r.Seq, err)
		}
		if each == nil {
			return nil
		}
		return each(e)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return s, sum, &NoRunError{boardPath}
	}
	return s, sum, err
}

// JournalPath is where a board's journal is, whether or not it exists.
func JournalPath(boardPath string) (string, error) {
	f, err := locate(boardPath)
	return f.journal(), err
}

// locate finds the files of a board's runs. The board itself need not be readable, but it must be there, because its links
// are resolved.
func locate(boardPath string) (files, error) {
	real, err := filepath.EvalSymlinks(boardPath)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return files{}, &InvalidError{Err: fmt.Errorf("find board: %w", err)}
	}
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		return files{}, &InvalidError{Err: fmt.Errorf("%s is a folder, not a board", boardPath)}
	}
	return filesOf(real), nil
}

// Owned says whether a run owns the board now.
func Owned(boardPath string) (bool, error) {
	f, err := locate(boardPath)
	if err != nil {
		return false, err
	}
	return durable.Held(f.lock())
}
