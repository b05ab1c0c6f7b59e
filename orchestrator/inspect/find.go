package inspect

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/rundir"
)

// defaultBoard is the name of the board that has precedence over all others in its folder.
const defaultBoard = "kanban.yaml"

// FindBoard returns the name of the board in a folder. If there is no kanban.yaml, the board is the
// only .yaml, .yml or .md file that names a current task. If there are several such files, or none,
// FindBoard returns an error. Errors: *SeveralError.
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
		return "", &SeveralError{found}
	}
}

// SeveralError is the error for a folder with several boards, none of them kanban.yaml.
type SeveralError struct{ Boards []string }

func (e *SeveralError) Error() string { return "there are " + strings.Join(e.Boards, ", ") }

// mostBoards bounds the number of boards that Below finds.
const mostBoards = 1000

// Below returns at most mostBoards boards below a folder. These are the boards that were run, and
// the files that name a current task. It skips node_modules, each folder whose name begins with a
// dot, and each folder that it cannot read.
func Below(folder string) (boards []string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(boards) >= mostBoards:
			return filepath.SkipDir
		case !d.IsDir():
			if isBoardName(path) && isBoard(path) {
				boards = append(boards, path)
			}
			return nil
		case d.Name() == ".kanban-run":
			boards = append(boards, ranIn(path)...)
			return filepath.SkipDir
		case path != folder && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		default:
			return nil
		}
	})
	slices.Sort(boards)
	return slices.Compact(boards)
}

// ranIn returns the boards that have runs in a folder .kanban-run and whose files still exist.
func ranIn(folder string) (boards []string) {
	runs, _ := os.ReadDir(filepath.Join(folder, "runs")) // an error means no runs
	for _, r := range runs {
		dir := rundir.Dir{Path: filepath.Join(folder, "runs", r.Name())}
		if board := filepath.Join(filepath.Dir(folder), dir.BoardFile()); r.IsDir() && isFile(board) {
			boards = append(boards, board)
		}
	}
	return boards
}

func isBoardName(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".md"}, filepath.Ext(path))
}

// explainNone returns the error for a folder without a board. If a run has kept a copy of a board
// that is now missing, the error names this board.
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

// IsOther reports whether a file is YAML of another kind than a board, such as compose.yaml, and was never
// run as a board.
func IsOther(path string) bool {
	source, err := board.ReadFile(path)
	if err != nil || !board.IsOther(path, source) {
		return false
	}
	dir, err := Locate(path)
	if err != nil {
		return false
	}
	_, err = os.Lstat(dir.Path)
	return errors.Is(err, fs.ErrNotExist)
}

func isBoard(path string) bool {
	source, err := board.ReadFile(path)
	if err != nil || !bytes.Contains(source, []byte("current")) {
		return false
	}
	b, err := board.Parse(path, source)
	if err != nil { // a spoiled board is still a board
		return filepath.Ext(path) != ".md" && bytes.Contains(append([]byte{'\n'}, source...), []byte("\ncurrent:"))
	}
	return b.Current.Set
}
