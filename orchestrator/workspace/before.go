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

// KeepBefore copies the board's bytes before an agent's turn, so that they can be restored after
// it. It does not sync the copy, because the copy is not needed after a power cut.
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

// Before returns the board as it was before the last turn. It returns an error if the SHA-256 of
// that board differs from the parameter sha. The run that had this turn keeps the board in memory,
// because an agent can remove the copy on disk.
func (w *Workspace) Before(sha string) (*board.Board, error) {
	if w.kept != nil && w.kept.SHA == sha {
		return w.kept, nil
	}
	return board.ReadCopy(w.Dir().Before(), w.Name, sha)
}

// Added returns the tasks that were added to the list since the board had the given SHA-256. It returns
// nil if that board is not known.
func (w *Workspace) Added(sha string) (added []string) {
	now, err := w.Look()
	if err != nil || now.SHA == sha {
		return nil
	}
	before, err := w.Before(sha)
	if err != nil {
		return nil
	}
	earlier := map[string]bool{}
	for _, task := range before.TaskPaths() {
		earlier[task] = true
	}
	for _, task := range now.TaskPaths() {
		if !earlier[task] {
			added = append(added, task)
		}
	}
	return added
}

// RestoreEnd gives a board the end of an earlier board, but for the mark of the entry with the path own
// (see [board.Board.WithEndOf]), and saves the board. If the two boards are too different, RestoreEnd restores the whole earlier board. It
// returns the SHA-256 of the saved board, and a text that describes the change.
func (w *Workspace) RestoreEnd(now, before *board.Board, own ...string) (sha, done string, err error) {
	kept := w.keepAfter()
	after, err := now.WithEndOf(before, own...)
	if err != nil {
		return before.SHA, "all of the file is put back " + kept, w.PutBack(before.SHA)
	}
	return after.SHA, "that is put back " + kept, w.Save(after)
}

// keepAfter copies the board as an agent left it, and returns the place of the copy in words. It
// does not return an error, since the board is restored even without a copy.
func (w *Workspace) keepAfter() string {
	source, err := board.ReadFile(w.Path)
	if named, failed := board.ReadFile(w.Name); failed == nil && !w.dryRun && w.checkPath() != nil {
		source, err = named, nil // another file has replaced the link
	}
	if err == nil {
		err = rundir.OverwriteFile(w.Dir().After(), source)
	}
	if err != nil {
		return "(as it was left it could not be kept)"
	}
	return "(as it was left: " + w.Dir().After() + ")"
}

// PutBackSpoiled restores a board that an agent has removed or left unreadable. The result done
// describes the change in words.
func (w *Workspace) PutBackSpoiled(sha string) (done string, err error) {
	kept := ""
	if _, err := os.Lstat(w.Name); err == nil {
		kept = " " + w.keepAfter()
	}
	return fmt.Sprintf("its earlier bytes are put back from %s%s", w.Dir().Before(), kept), w.PutBack(sha)
}

// PutBack restores the board and its name as they were before the agent's turn, when the board had
// the given SHA-256.
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

// restoreName removes a link or a folder that an agent has put in the place of the board's file or
// name. If the user named the board by a link, restoreName makes that link again. It does not
// follow a link that an agent has made.
func (w *Workspace) restoreName() error {
	if err := rundir.RemoveForeign(w.Path); err != nil || w.dryRun {
		return err // a dry run owns only its copy of the board
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

// isOwnLink reports whether path is the link by which the user named the board, and still leads to
// the board.
func (w *Workspace) isOwnLink(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return path == w.Name && err == nil && real == w.Path && path != w.Path
}
