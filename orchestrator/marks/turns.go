package marks

import (
	"path/filepath"

	"kanban-run/orchestrator/durable"
)

// turns is the log of the turns of agents in a work directory. It tells a board whether an agent of
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

// newTurns returns the log of a work directory, with links resolved. Boards of other folders have
// logs of their own.
func newTurns(dir, board string) *turns {
	return &turns{filepath.Join(durable.RealPath(dir), ".kanban-run", "claims", "turns"), board}
}

// maxLog is the size in bytes from which on a log without open turns is begun anew.
const maxLog = 1 << 20
