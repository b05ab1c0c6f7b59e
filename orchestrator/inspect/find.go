package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
		if isBoardName(e.Name()) && isBoard(filepath.Join(dir, e.Name())) {
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

// mostBoards bounds the boards that Below finds.
const mostBoards = 1000

// Below returns the boards below a folder, mostBoards at most: those that were run, and those in the
// same folders and in this one that were not. It skips folders that it cannot read.
func Below(folder string) (boards []string) {
	ran := Run(folder)
	folders := map[string]bool{folder: true}
	for _, b := range ran {
		folders[filepath.Dir(b)] = true
	}
	all := map[string]bool{}
	for _, b := range ran {
		all[b] = true
	}
	for dir := range folders {
		entries, _ := os.ReadDir(dir) // an error means no boards
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); isBoardName(path) && len(all) < mostBoards && isBoard(path) {
				all[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Run returns the boards below a folder that were run, mostBoards at most. It skips folders that it
// cannot read.
func Run(folder string) (boards []string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(boards) == mostBoards:
			return filepath.SkipDir
		case !d.IsDir():
			return nil
		case d.Name() == ".git" || d.Name() == "node_modules":
			return filepath.SkipDir
		case filepath.Base(filepath.Dir(path)) == "runs" &&
			filepath.Base(filepath.Dir(filepath.Dir(path))) == ".kanban-run":
			board := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(path))), rundir.Dir{Path: path}.BoardFile())
			if isFile(board) {
				boards = append(boards, board)
			}
			return filepath.SkipDir
		}
		return nil
	})
	return boards
}

func isBoardName(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".md"}, filepath.Ext(path))
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
	if err != nil { // one that is spoiled is one all the same
		return filepath.Ext(path) != ".md" && bytes.Contains(append([]byte{'\n'}, source...), []byte("\ncurrent:"))
	}
	return b.Current.Set
}
