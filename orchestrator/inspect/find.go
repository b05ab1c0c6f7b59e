package inspect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/rundir"
)

// defaultBoard is the name of the board that wins over all others in its folder.
const defaultBoard = "kanban.yaml"

// FindBoard returns the name of the board in a folder. If there is no kanban.yaml, the board is the
// only .yaml, .yml or .md file that names a current task. If several files do, it returns an error.
func FindBoard(dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, defaultBoard)); err == nil {
		return defaultBoard, nil
	}
	var found []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".md"}, filepath.Ext(e.Name())) &&
			isBoard(filepath.Join(dir, e.Name())) {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", explainNone(dir)
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("there are %s", strings.Join(found, ", "))
	}
}

// explainNone returns the error for a folder without a board. If a run has kept the bytes of a
// board that is now missing, the error names this board.
func explainNone(dir string) error {
	runs, _ := os.ReadDir(filepath.Join(dir, ".kanban-run", "runs")) // an error means no runs
	for _, r := range runs {
		gone := filepath.Join(dir, r.Name())
		var missing *board.FileError
		if err := ExplainMissing(gone); errors.As(err, &missing) && isFile(rundir.Of(gone).Before()) {
			return missing
		}
	}
	return errors.New("there is none in this folder")
}

func isBoard(path string) bool {
	source, err := board.ReadFile(path)
	if err != nil {
		return false
	}
	b, err := board.Parse(path, source)
	return err == nil && b.Current.Set
}
