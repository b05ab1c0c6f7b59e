package inspect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/ledger"
)

// Workdir returns the directory in which the agents of a board run. A board with an accepted step goes on in
// the folder of that step, taken relative to the board: the next step builds on files that are only there.
// Otherwise it is the one that [board.ChooseWorkdir] chooses. The parameter explicit is the folder that -C
// names, or "". Errors: *board.FileError; *failure.Invalid if explicit is another folder than that of the step.
func Workdir(explicit, boardPath, cwd string, b *board.Board) (string, error) {
	chosen, err := board.ChooseWorkdir(explicit, boardPath, cwd, b)
	if err != nil {
		return "", err
	}
	folder, err := Locate(boardPath)
	if err != nil {
		return chosen, nil // a run refuses it by name
	}
	rel := ledger.WorkedIn(folder)
	if rel == "" {
		return chosen, nil
	}
	dir := filepath.Join(folder.Path, "..", "..", "..", filepath.FromSlash(rel)) // from the board's folder
	was, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) { // the board was moved by itself
		return chosen, nil
	}
	is, failed := os.Stat(chosen)
	switch {
	case err == nil && failed == nil && os.SameFile(was, is):
		return chosen, nil
	case explicit != "":
		return "", &failure.Invalid{
			Err: fmt.Errorf("%s was worked on in %s, and -C names %s, which lacks what was done there", boardPath, dir, chosen),
			Fix: "leave -C out, or name -C " + failure.Quote(dir) + "; the board begins anew anywhere once kanban-run teardown --delete has archived its runs",
		}
	default:
		return dir, nil
	}
}
