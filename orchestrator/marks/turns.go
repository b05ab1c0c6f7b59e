package marks

import (
	"path/filepath"
	"slices"
	"time"

	"kanban-run/orchestrator/durable"
)

// turns is the log of the turns of agents in a work directory. It tells a board whether an agent of
// another board was at work since it looked last.
type turns struct {
	path  string // path of the log
	board string // path of the board, with links resolved
}

// line is a line of the log: the beginning or the end of a turn.
type line struct {
	Board string    `json:"board"`
	Task  string    `json:"task"` // path of the task's file
	At    time.Time `json:"at"`
	End   bool      `json:"end,omitempty"`
}

// seen is what a look at the log finds of the turns of other boards.
type seen struct {
	at      int64  // end of the log
	open    bool   // a turn is open
	unknown bool   // the log was begun anew, or cannot be read
	turns   []span // turns since the last look, and those that were open at that look
}

// span is a turn of another board.
type span struct {
	Board string    `json:"board"`
	Task  string    `json:"task"`
	From  time.Time `json:"from"` // zero: not known
	to    time.Time // zero: it is open, or its board was killed
}

// stillOpen returns the turns that may be open.
func (s *seen) stillOpen() (turns []span) {
	if !s.open {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.turns), func(t span) bool { return !t.to.IsZero() })
}

// coarse is by how much the time of a change of a file may lie behind the clock.
const coarse = 50 * time.Millisecond

// has reports whether the turn was open at a time.
func (t span) has(at time.Time) bool {
	return !at.Before(t.From.Add(-coarse)) && (t.to.IsZero() || !at.After(t.to.Add(coarse)))
}

// note takes a line of another board.
func (s *seen) note(l line) {
	if !l.End {
		s.turns = append(s.turns, span{Board: l.Board, Task: l.Task, From: l.At})
		return
	}
	for i := range s.turns {
		if t := &s.turns[i]; t.Board == l.Board && t.to.IsZero() {
			t.to = l.At
			return
		}
	}
	s.turns = append(s.turns, span{Board: l.Board, Task: l.Task, to: l.At}) // it began before the last look
}

// newTurns returns the log of a work directory, with links resolved. Boards of other folders have
// logs of their own.
func newTurns(dir, board string) *turns {
	return &turns{filepath.Join(durable.RealPath(dir), ".kanban-run", "claims", "turns"), board}
}

// maxLog is the size in bytes from which on a log without open turns is begun anew.
const maxLog = 1 << 20
