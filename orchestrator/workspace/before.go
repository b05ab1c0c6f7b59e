package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// KeepBefore copies the board's bytes before a turn. The copy needs no sync: it is for a board that
// an agent breaks, not for a power cut.
func (w *Workspace) KeepBefore(b *board.Board) error {
	if w.keptSHA == b.SHA {
		return nil
	}
	if err := rundir.OverwriteFile(w.Dir().Before(), b.Source); err != nil {
		return fmt.Errorf("keep the board's bytes: %w", err)
	}
	w.keptSHA = b.SHA
	return nil
}

// Before returns the copy of the board with the given SHA-256.
func Before(dir rundir.Dir, sha string) ([]byte, error) {
	source, err := board.ReadFile(dir.Before())
	if err == nil && board.SHA(source) != sha {
		return nil, errors.New("the bytes kept aside are of another board")
	}
	return source, err
}

// PutBack replaces a board that the Manager of a step left unreadable by the bytes that it had
// before the Manager's turn.
func (w *Workspace) PutBack(step *flow.Step) error {
	w.Forget()
	source, err := Before(w.Dir(), step.Before.BoardSHA)
	if err != nil {
		return err
	}
	// A link that the Manager put in the board's place is replaced, not followed.
	for _, path := range []string{w.Path, w.Name} {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && !w.isOwnLink(path) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return durable.WriteFile(w.Path, source, 0o644)
}

// isOwnLink says whether the user named the board by a link that still leads to it.
func (w *Workspace) isOwnLink(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return path == w.Name && err == nil && real == w.Path && path != w.Path
}
