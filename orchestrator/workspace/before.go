package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
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
	return parseBefore(w.Dir(), w.Name, sha)
}

func parseBefore(dir rundir.Dir, name, sha string) (*board.Board, error) {
	source, err := Before(dir, sha)
	if err != nil {
		return nil, err
	}
	return board.Parse(name, source)
}

// RestoreEnd gives the board the end that it had before, see [board.Board.WithEndOf]; whole: the two
// are too different, and all of it is put back. The file as it was is kept in the run's folder.
func (w *Workspace) RestoreEnd(now, before *board.Board) (sha string, whole bool, err error) {
	if err := rundir.OverwriteFile(w.Dir().After(), now.Source); err != nil {
		return "", false, fmt.Errorf("keep the board's bytes: %w", err)
	}
	data, err := now.WithEndOf(before)
	if err != nil {
		return before.SHA, true, w.PutBack(before.SHA)
	}
	return board.SHA(data), false, w.Save(data)
}

// UnknownEnd is the change of a board whose run died in the turn of an agent, if the end of the
// board is another one since; nil: it is not. Without the board's earlier bytes any change counts.
func UnknownEnd(dir rundir.Dir, name string, now *board.Board, step *flow.Step) *flow.StateDiverged {
	if step == nil || step.Before != nil || now.SHA == step.BoardSHA { // a Manager may end the board
		return nil
	}
	what := "its earlier bytes are gone"
	if before, err := parseBefore(dir, name, step.BoardSHA); err == nil {
		changes := now.EndChanges(before)
		if len(changes) == 0 {
			return nil
		}
		what = strings.Join(changes, ", ") + "; earlier bytes: " + dir.Before()
	}
	return &flow.StateDiverged{Source: flow.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA, After: now.SHA, Policy: flow.PolicyAsk,
		Text: fmt.Sprintf("STATE_DIVERGENCE: %s has changed since the run died while %s was at work on %s (%s): it cannot be told whether the agent or a person ended it",
			name, step.CallRole(), step.Task, what)}
}

// Before returns the copy of the board with the given SHA-256.
func Before(dir rundir.Dir, sha string) ([]byte, error) {
	source, err := board.ReadFile(dir.Before())
	if err == nil && board.SHA(source) != sha {
		return nil, errors.New("the bytes kept aside are of another board")
	}
	return source, err
}

// PutBack replaces a board that an agent left unreadable, or removed, by the one before the agent's
// turn, which has the given SHA-256.
func (w *Workspace) PutBack(sha string) error {
	w.Forget()
	before, err := w.Before(sha)
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
	return durable.WriteFile(w.Path, before.Source, 0o644)
}

// isOwnLink says whether the user named the board by a link that still leads to it.
func (w *Workspace) isOwnLink(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return path == w.Name && err == nil && real == w.Path && path != w.Path
}
