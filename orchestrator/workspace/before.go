package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/rundir"
)

// KeepBefore copies the board's bytes before a turn. The copy needs no sync: it is for a board that
// an agent breaks, not for a power cut.
func (w *Workspace) KeepBefore(b *board.Board) error {
	if w.kept != nil && w.kept.SHA == b.SHA {
		return nil
	}
	if err := rundir.OverwriteFile(w.Dir().Before(), b.Source); err != nil {
		return fmt.Errorf("keep the board's bytes: %w", err)
	}
	w.kept = b
	return nil
}

// Before is the board with the given SHA-256 as it was before the last turn. In the run of that turn
// it is there also if an agent has removed the copy.
func (w *Workspace) Before(sha string) (*board.Board, error) {
	if w.kept != nil && w.kept.SHA == sha {
		return w.kept, nil
	}
	return board.ReadCopy(w.Dir().Before(), w.Name, sha)
}

// RestoreEnd gives the board the end that it had before, see [board.Board.WithEndOf], and says what was
// done: where the two are too different, all of it is put back.
func (w *Workspace) RestoreEnd(now, before *board.Board) (sha, done string, err error) {
	kept := w.keepAfter()
	after, err := now.WithEndOf(before)
	if err != nil {
		return before.SHA, "all of the file is put back " + kept, w.PutBack(before.SHA)
	}
	return after.SHA, "that is put back " + kept, w.Save(after)
}

// keepAfter copies the board as an agent left it, and says in brackets where. A copy that cannot be
// made keeps nothing from being put back.
func (w *Workspace) keepAfter() string {
	source, err := board.ReadFile(w.Path)
	if named, failed := board.ReadFile(w.Name); failed == nil && !w.dryRun && w.checkPath() != nil {
		source, err = named, nil // another file is in the place of the link
	}
	if err == nil {
		err = rundir.OverwriteFile(w.Dir().After(), source)
	}
	if err != nil {
		return "(as it was left it could not be kept)"
	}
	return "(as it was left: " + w.Dir().After() + ")"
}

// PutBackSpoiled puts all of a board back that an agent has removed, or left so that it cannot be read,
// and says what was done.
func (w *Workspace) PutBackSpoiled(sha string) (done string, err error) {
	kept := ""
	if _, err := os.Lstat(w.Name); err == nil {
		kept = " " + w.keepAfter()
	}
	return fmt.Sprintf("its earlier bytes are put back from %s%s", w.Dir().Before(), kept), w.PutBack(sha)
}

// PutBack replaces a board that an agent left unreadable, or removed, by the one before the agent's
// turn, which has the given SHA-256.
func (w *Workspace) PutBack(sha string) error {
	w.Forget()
	before, err := w.Before(sha)
	if err != nil {
		return err
	}
	if err := w.restoreName(); err != nil {
		return err
	}
	return durable.WriteFile(w.Path, before.Source, 0o644)
}

// restoreName takes away what is in the place of the board and of its name, and is no file, or not the
// link that the user made: that is made anew. A link that an agent put there is not followed.
func (w *Workspace) restoreName() error {
	if err := rundir.RemoveForeign(w.Path); err != nil || w.dryRun {
		return err // of a dry run nothing else is anyone's
	}
	if w.link == "" {
		return rundir.RemoveForeign(w.Name)
	}
	if w.isOwnLink(w.Name) {
		return nil
	}
	if err := os.Remove(w.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(w.link, w.Name)
}

// isOwnLink says whether the user named the board by a link that still leads to it.
func (w *Workspace) isOwnLink(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return path == w.Name && err == nil && real == w.Path && path != w.Path
}
