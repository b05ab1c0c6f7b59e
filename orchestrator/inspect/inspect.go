// Package inspect answers questions about a board's runs. It takes no lock and writes nothing, so
// that it also works while a run is at work.
package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Locate returns the folder of a board's runs, whether or not this folder exists. The board need
// not be readable, but it must exist, because its links are resolved. For the path of a journal,
// Locate returns the journal's folder. Errors: *failure.Invalid.
func Locate(boardPath string) (rundir.Dir, error) {
	real, err := filepath.EvalSymlinks(boardPath)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		if explained := ExplainMissing(boardPath); explained != nil {
			err = explained
		}
		return rundir.Dir{}, &failure.Invalid{Err: err}
	}
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		return rundir.Dir{}, &failure.Invalid{Err: fmt.Errorf("%s is a folder, not a board", boardPath)}
	}
	if dir := (rundir.Dir{Path: filepath.Dir(real)}); real == dir.Journal() {
		return dir, nil // the journal may be a copy, such as an artifact of a CI job
	}
	return rundir.Of(real), nil
}

// History replays a board's journal and returns its history. For every entry in order, it calls the
// function visit, which may be nil. Errors: *ledger.NoRunError, *ledger.UnreadableError, and the
// errors of Locate, of the function visit and of [ledger.CheckFile].
func History(boardPath string, visit func(event.Entry) error) (flow.History, journal.Summary, error) {
	return Looker{}.Reader(boardPath).History(visit)
}

// IsOwned reports whether a run owns the board now.
func IsOwned(boardPath string) (bool, error) {
	dir, err := Locate(boardPath)
	if err != nil {
		return false, err
	}
	return dir.IsOwned()
}

// Foresee returns the first effect of a run that would start now with the limits of the last run.
// workdir is the folder that -C names. If workdir is "", Foresee chooses the folder as a run does.
// lookup returns the function that checks whether a role is known in a work directory, or the error of its
// settings. Errors: *failure.Invalid if a run would refuse the board, its journal or the settings.
func Foresee(
	boardPath, workdir, startDir string, lookup func(workdir string) (func(role string) error, error), h flow.History,
) (flow.Effect, error) {
	folder, err := Locate(boardPath)
	if err == nil && isFile(folder.Journal()) {
		err = ledger.RequireForm(folder, h)
	}
	if err != nil {
		return nil, err
	}
	if text := h.Standstill(); text != "" {
		return flow.Finish{Outcome: h.StandstillOutcome(), Text: text}, nil
	}
	b, _, err := ReadBoard(boardPath, true, func(string) {})
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	dir, err := Workdir(workdir, boardPath, startDir, b)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	place, err := board.OpenPlace(dir, boardPath)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	if place.Lookup, err = lookup(dir); err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	if h.State.NeverRan() { // a run that goes on forgives what agents did to their tasks
		for _, p := range board.Check(b, place) {
			if !p.Warning {
				return nil, &failure.Invalid{Err: p}
			}
		}
	}
	return foresee(h.State, b, place, folder)
}

func foresee(s flow.State, b *board.Board, place *board.Place, folder rundir.Dir) (flow.Effect, error) {
	view := func() (flow.Board, error) {
		return workspace.View(b, &s, place.ReadTask, func(role string) (string, error) { return role, nil })
	}
	if err := foreseeUndone(&s, b, place, folder); err != nil {
		return nil, err
	}
	again := s.Again()
	s.NoteEdits(&again, workspace.ListOf(b, place.ReadTask), workspace.Seen(place, b.Current.Path))
	if err := s.Apply(again); err != nil {
		return nil, err
	}
	taskSHA := func(task string) string { return workspace.TaskSHA(place, task) }
	if err := flow.Release(&s, workspace.Bare(b), taskSHA, s.Apply); err != nil {
		return nil, err
	}
	lost, err := flow.CloseAttempt(&s, s.Apply)
	if err != nil {
		return nil, err
	}
	if e := ledger.UnknownEnd(folder, b.File, b, place, &s); lost && e != nil {
		return flow.Finish{Outcome: event.NeedsPerson, Text: e.Text}, nil
	}
	if err := flow.Reopen(&s, workspace.Bare(b), view, s.Apply); err != nil {
		return nil, err
	}
	v, err := view()
	if err != nil {
		return nil, err
	}
	return flow.Next(&s, v), nil
}

// foreseeUndone applies what a run would find undone of earlier work.
func foreseeUndone(s *flow.State, b *board.Board, place *board.Place, folder rundir.Dir) error {
	if s.NeverRan() {
		return nil
	}
	e, err := ledger.FindUndone(folder, s, b.File, b, workspace.ListOf(b, place.ReadTask),
		ledger.Files{ // only a run looks at them
			AreGone:     func([]event.LeftFile) bool { return false },
			IsCommitted: func() bool { return false },
		})
	if err != nil || e == nil {
		return err
	}
	if _, err := flow.CloseAttempt(s, s.Apply); err != nil {
		return err
	}
	return s.Apply(*e)
}

// ReadBoard reads a board and resolves the links in its path. If the board cannot be parsed while a
// Manager's turn is open, the Manager died while it wrote. If the parameter recover is true,
// ReadBoard then calls the function notice, and returns the board from before this turn. It does
// not restore the file. A run restores the file once it owns the board.
func ReadBoard(boardPath string, recover bool, notice func(text string)) (b *board.Board, path string, err error) {
	path, err = filepath.EvalSymlinks(boardPath)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, "", ExplainMissing(boardPath)
	}
	source, err := board.ReadFile(boardPath)
	if err != nil {
		return nil, path, err
	}
	if b, err = board.Parse(boardPath, source); err == nil || !recover {
		return b, path, err
	}
	before := beforeManager(rundir.Of(path), boardPath)
	if before == nil {
		return nil, path, err
	}
	notice(fmt.Sprintf("%v; this is how the Manager left it: the bytes from before its turn are put back", err))
	return before, path, nil
}

// ExplainMissing returns the error of reading a board, or nil if the board can be read. If the file
// is missing and a run has kept a copy of it, the error's fix names the copy.
func ExplainMissing(boardPath string) error {
	_, err := board.ReadFile(boardPath) // this error explains more than the error of EvalSymlinks
	var missing *board.FileError
	abs, failed := filepath.Abs(boardPath)
	if failed != nil || !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &missing) {
		return err
	}
	if before := rundir.Of(abs).Before(); isFile(before) {
		missing.Fix = fmt.Sprintf("its bytes from before the last turn: cp %s %s", failure.Quote(before),
			failure.Quote(boardPath))
	}
	return err
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// beforeManager returns the board from before the Manager's open turn. It returns nil if no turn is
// open or the copy of the board cannot be read.
func beforeManager(dir rundir.Dir, name string) *board.Board {
	h, _, err := ledger.Fold(dir, nil)
	step := h.State.Step
	if err != nil || step == nil || step.Before == nil || step.Reply != nil {
		return nil
	}
	before, err := board.ReadCopy(dir.Before(), name, step.Before.BoardSHA)
	if err != nil {
		return nil
	}
	return before
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
