package orchestrator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
)

// Acknowledge journals the Lead's word that a board may go on as it stands: it thaws a frozen board, and takes note of an
// ending with blocked, error or escalate. It returns what the board was waiting for. Errors: *NoRunError, *durable.HeldError
// while a run owns the board, *InvalidError for a board that cannot be read.
func Acknowledge(boardPath, note string, now func() time.Time) (waited string, err error) {
	f, err := locate(boardPath)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(f.journal()); err != nil {
		return "", &NoRunError{boardPath}
	}
	source, err := board.ReadFile(boardPath)
	if err == nil {
		_, err = board.Parse(boardPath, source)
	}
	if err != nil {
		return "", &InvalidError{Err: err}
	}
	lock, err := durable.Acquire(f.lock())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return acknowledge(f, flow.Acknowledged{Board: filepath.Base(boardPath), BoardSHA: board.SHA(source), Note: note}, now)
}

func acknowledge(f files, e flow.Acknowledged, now func() time.Time) (string, error) {
	var s flow.State
	j, err := journal.Open(f.journal(), now, func(r journal.Record) error {
		entry, err := decode(r)
		if err != nil {
			return err
		}
		return s.Apply(entry.Event)
	})
	if err != nil {
		return "", fmt.Errorf("open the journal: %w", err)
	}
	waited := waitsFor(s)
	if waited == "" {
		return "", j.Close()
	}
	l := &ledger{board: e.Board, journal: j, state: s, observer: Silent{}, redactor: redact.New(nil), onCommit: func(flow.Entry) error { return nil }}
	_, err = j.BeginEpoch()
	if err == nil {
		err = l.record(e)
	}
	return waited, errors.Join(err, j.Close())
}

// waitsFor says what a board waits for its Lead to see, or "".
func waitsFor(s flow.State) string {
	switch {
	case s.Frozen != nil:
		return s.Frozen.Text
	case s.Outcome == flow.NeedsPerson && !s.Last.Acknowledged:
		return s.Text
	default:
		return ""
	}
}
