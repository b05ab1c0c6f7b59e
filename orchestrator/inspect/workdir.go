package inspect

import (
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/ledger"
)

// Workdir returns the directory in which the agents of a board run. A board with an accepted reply goes on in
// the folder of that work, because the next step builds on files that are only there: it is taken relative to the
// board, so that both can be moved, or by its path, so that the board can. Otherwise the directory is the one that
// [board.ChooseWorkdir] chooses. The parameter explicit is the folder that -C names, or "". Errors:
// *board.FileError; *failure.Invalid if that folder is gone, or if explicit is another one.
func Workdir(explicit, boardPath, cwd string, b *board.Board) (string, error) {
	chosen, err := board.ChooseWorkdir(explicit, boardPath, cwd, b)
	if err != nil {
		return "", err
	}
	folder, err := Locate(boardPath)
	if err != nil {
		return chosen, nil // a run refuses it by name
	}
	rel, abs := ledger.WorkedIn(folder)
	if rel == "" {
		return chosen, nil
	}
	beside := filepath.Join(folder.Path, "..", "..", "..", filepath.FromSlash(rel)) // from the board's folder
	if isSame(chosen, beside) || isSame(chosen, abs) {
		return chosen, nil
	}
	known := beside
	if !isFolder(known) {
		known = abs
	}
	const anew = "; the board begins anew anywhere once kanban-run teardown --delete has archived its runs"
	switch {
	case !isFolder(known):
		return "", &failure.Invalid{
			Err: fmt.Errorf("%s was worked on in %s, which is gone, and a run elsewhere lacks what was done there", boardPath, beside),
			Fix: "bring the folder back" + anew,
		}
	case explicit != "":
		return "", &failure.Invalid{
			Err: fmt.Errorf("%s was worked on in %s, and -C names %s, which lacks what was done there", boardPath, known, chosen),
			Fix: "leave -C out, or name -C " + failure.Quote(known) + anew,
		}
	default:
		return known, nil
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isSame reports whether two paths lead to the same folder.
func isSame(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}
