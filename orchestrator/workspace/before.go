package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
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

// PutBack replaces a board that an agent left unreadable, or removed, by the bytes that it had
// before the agent's turn, which have the given SHA-256.
func (w *Workspace) PutBack(sha string) error {
	w.Forget()
	source, err := Before(w.Dir(), sha)
	if err != nil {
		return err
	}
	// A link that the agent put in the board's place is replaced, not followed.
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
