package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// NoRunError says that a board was never run.
type NoRunError struct{ Board string }

func (e *NoRunError) Error() string { return fmt.Sprintf("%s was never run", e.Board) }

// Hint says how to run it.
func (e *NoRunError) Hint() string { return "kanban-run " + e.Board }

// Inspect replays a board's journal without taking the board, also while it runs, and returns its history. each sees every
// entry in order; nil is allowed. Errors: *NoRunError, *journal.DamageError.
func Inspect(boardPath string, each func(flow.Entry) error) (flow.History, journal.Summary, error) {
	path, err := JournalPath(boardPath)
	if err != nil {
		return flow.History{}, journal.Summary{}, err
	}
	h, sum, err := fold(path, each)
	return h, sum, inspected(boardPath, path, h, err)
}

// inspected is what there is to say about a journal that was read with err.
func inspected(boardPath, path string, h flow.History, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NoRunError{boardPath}
	case err == nil:
		return whose(path, h)
	default:
		return err
	}
}

// fold replays a journal that somebody else may be writing.
func fold(path string, each func(flow.Entry) error) (flow.History, journal.Summary, error) {
	var h flow.History
	sum, err := journal.Read(path, func(r journal.Record) error {
		e, err := decode(r)
		if err != nil {
			return err
		}
		h.Add(e)
		if each == nil {
			return nil
		}
		return each(e)
	})
	return h, sum, err
}

// recount reads again what each task has used.
func recount(path string) ([]flow.TaskUse, error) {
	var c flow.Recount
	_, err := journal.Read(path, func(r journal.Record) error {
		e, err := decode(r)
		if err == nil {
			c.Add(e)
		}
		return err
	})
	return c.Tasks(), err
}

// Foresee returns what a run of the board would do next, started now with the limits of the last one. workdir is that of
// [Job]. Errors: *InvalidError, when a run would refuse the board.
func Foresee(boardPath, workdir, startDir string, h flow.History) (flow.Effect, error) {
	s := h.State
	if text := h.Standstill(); text != "" {
		return flow.Finish{Outcome: flow.Frozen, Text: text}, nil
	}
	b, _, err := openBoard(Job{Board: boardPath, Observer: Silent{}})
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	dir, err := board.ChooseWorkdir(workdir, boardPath, startDir, b)
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	place, err := board.OpenPlace(dir, boardPath)
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	defer place.Close()
	var v flow.Board
	see := func() (flow.Board, error) {
		v, err = look(b, &s, place, func(role string) (string, error) { return role, nil })
		return v, err
	}
	if err := s.Apply(flow.RunStarted{Limits: s.Limits}); err != nil {
		return nil, err
	}
	if err := reopen(&s, b.SHA, see, s.Apply); err != nil {
		return nil, err
	}
	if v, err = see(); err != nil {
		return nil, err
	}
	return flow.Next(s, v), nil
}

// JournalPath is where a board's journal is, whether or not it exists.
func JournalPath(boardPath string) (string, error) {
	f, err := locate(boardPath)
	return f.journal(), err
}

// LogPath is where a board's supervisor log is, whether or not it exists.
func LogPath(boardPath string) (string, error) {
	f, err := locate(boardPath)
	return f.log(), err
}

// locate finds the files of a board's runs. The board itself need not be readable, but it must be there, because its links
// are resolved.
func locate(boardPath string) (files, error) {
	real, err := filepath.EvalSymlinks(boardPath)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		if _, explained := board.ReadFile(boardPath); explained != nil {
			err = explained
		}
		return files{}, &InvalidError{Err: err}
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
