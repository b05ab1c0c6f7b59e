package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// OnComplete calls the function do with the journal of a complete board on which no run works. Errors: those of
// [Acknowledge], *NotCompleteError, and those of do.
func OnComplete(boardPath string, dir rundir.Dir, r *redact.Redactor, now func() time.Time, do func(*Ledger) error) (err error) {
	if _, err := os.Stat(dir.Journal()); err != nil {
		return &NoRunError{Board: boardPath}
	}
	lock, err := dir.Acquire()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	b, err := parseBoard(boardPath)
	if err != nil {
		return err
	}
	l := New(filepath.Base(boardPath), dir, Silent{}, r, now)
	defer func() { err = errors.Join(err, l.Close()) }()
	a := &arbitration{Ledger: l, path: boardPath, before: b}
	if err := a.read(); err != nil {
		return err
	}
	if about := a.standing.About(); !a.isComplete || about != "" && about != event.AboutLand && about != event.AboutTeam {
		return &NotCompleteError{boardPath, a.standing.Headline()}
	}
	if l.epoch, err = l.journal.ContinueEpoch(); errors.Is(err, journal.ErrNoEpoch) {
		l.epoch, err = l.journal.BeginEpoch()
	}
	if err == nil {
		err = do(l)
	}
	l.redraw()
	return err
}

// NotCompleteError is the error for a board that has work to do, or a decision to wait for.
type NotCompleteError struct{ Board, Words string }

func (e *NotCompleteError) Error() string {
	return fmt.Sprintf("the board is not complete: %s", e.Words)
}

// Hint returns the command that shows what there is to do.
func (e *NotCompleteError) Hint() string { return "kanban-run status " + failure.Quote(e.Board) }
