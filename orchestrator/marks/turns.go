package marks

import (
	"os"
	"path/filepath"
)

// turns is the log of the turns of agents in a work tree. It tells a board whether an agent of
// another board was at work since it looked last.
type turns struct {
	path  string // path of the log
	board string // path of the board, with links resolved
}

// begun is a line of the log.
type begun struct {
	Board string `json:"board"`
	Task  string `json:"task"` // path of the task's file
}

// seen is what a look at the log finds.
type seen struct {
	at    int64    // end of the log
	open  bool     // a turn of another board is open
	any   bool     // turns of other boards have begun, or the log was begun anew
	tasks []string // files of the tasks of these turns
}

// newTurns returns the log of the work tree of a folder. The work tree is the innermost git
// repository around the folder, or the folder itself.
func newTurns(dir, board string) *turns {
	top := dir
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			top = up
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return &turns{filepath.Join(top, ".kanban-run", "claims", "turns"), board}
}

// maxLog is the size in bytes from which on a log without open turns is begun anew.
const maxLog = 1 << 20
