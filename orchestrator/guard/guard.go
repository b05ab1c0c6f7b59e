// Package guard looks before a turn and behind it: what did it change that an agent must not change, or
// that a person should know? Each guard keeps one thing. All of them share one list with its order, one
// note for the time behind a kill, and one place in the loop.
package guard

import (
	"bytes"
	"encoding/json"
	"errors"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/turns"
)

// Turn is the turn of a program, as the guards of its board look at it.
type Turn struct {
	turns.Turn
	Ref       event.AttemptRef
	Player    *roster.Player // nil: programs work for us
	Board     *board.Board   // as it is before the turn
	IsManager bool           // the Manager may end the board, and marks tasks
	Named     []string       // at its end: tasks that the reply names
	Others    []turns.Turn   // at its end: turns of other boards that were open meanwhile

	look turns.Look // at its begin
}

// Of returns the turn of a step on a board, as its words name it.
func Of(step *flow.Step, name, path string) turns.Turn {
	t := turns.Turn{Board: name, Path: path}
	switch {
	case step.Checkpoint != nil:
		t.Doing = step.Role + " looked at " + step.Task
	case step.Task == step.Role: // the supervisor's first call
		t.Doing = step.Role + " got ready"
	default:
		t.Task = step.Task
	}
	return t
}

// IsOurs reports whether the programs of a turn work for us, such as a hook of git.
func (t *Turn) IsOurs() bool { return t.Player == nil }

// Guard keeps one thing around a turn. What it finds it journals; the record of the attempt's end goes
// to disk with that.
type Guard interface {
	// Name names what the guard keeps in the note of the turn.
	Name() string
	// Begin looks before a turn. What it returns is noted for Resume; nil: the same as before the last
	// turn. It may freeze the board, and may refuse the turn by an error; then there is none.
	Begin(t *Turn) (kept any, err error)
	// End looks behind a turn.
	End(t *Turn) error
	// Resume looks for the first time in a run, behind the last turn of an earlier one. isCut reports
	// that this run has died in the turn; note has what Begin kept, or nothing if that is not known.
	Resume(step *flow.Step, isCut bool, note rundir.Note) error
}

// Site is the board of a [List].
type Site struct {
	Board  string // path of the board as the user wrote it
	Path   string // path of the board's file, without links
	State  func() *flow.State
	Look   func() (*board.Board, error) // reads the board's file
	Turns  *turns.Registry              // the turns of the command
	Notice func(text string)
}

// List has the guards of one board's run, in the order in which they look.
type List struct {
	Site
	guards  []Guard
	note    *Note
	endTurn func() // closes the turn that is open for other boards; nil: none is
}

// NewList returns the list of a run.
func NewList(s Site, note *Note, guards ...Guard) *List {
	return &List{Site: s, guards: guards, note: note}
}

// BeginOurs opens the turn of programs that work for us. ran says which ones, as in "./tell.sh". It
// returns nil if there is no such turn: the board cannot be read.
func (l *List) BeginOurs(ran, doing string) *Turn {
	b, err := l.Look()
	if err != nil {
		return nil
	}
	t := &Turn{Turn: turns.Turn{Board: l.Board, Path: l.Path, Doing: ran + doing}, Ref: event.AttemptRef{Role: ran}, Board: b}
	if _, err := l.Begin(t); err != nil {
		l.Notice(err.Error())
		return nil
	}
	return t
}

// EndOurs closes a turn of [List.BeginOurs], if there is one.
func (l *List) EndOurs(t *Turn) error {
	if t == nil {
		return nil
	}
	_, _ = l.Look() // a board that cannot be read is put back
	return l.End(t)
}

// Begin has all guards look before a turn, and opens it. It returns the SHA-256 of the note, for the
// intent. If a guard freezes the board, or refuses the turn by an error, there is none.
func (l *List) Begin(t *Turn) (sha string, err error) {
	l.Close() // of a turn whose agent was not started, because its intent is not on disk
	for _, g := range l.guards {
		kept, err := g.Begin(t)
		if err == nil && kept != nil {
			err = l.note.Put(g.Name(), kept)
		}
		if err != nil || l.State().Frozen != nil && !t.IsOurs() {
			return "", err
		}
	}
	if sha, err = l.note.Save(); err == nil {
		_, t.look = l.Turns.Since(turns.Look{}, l.Path)
		l.endTurn = l.Turns.Begin(t.Turn)
	}
	return sha, err
}

// End has all guards look behind a turn, and closes it.
func (l *List) End(t *Turn) (err error) {
	t.Others, _ = l.Turns.Since(t.look, l.Path)
	for _, g := range l.guards {
		err = errors.Join(err, g.End(t))
	}
	l.Close()
	return err
}

// Resume has all guards look behind the last turn of an earlier run.
func (l *List) Resume(step *flow.Step, isCut bool) (err error) {
	note := l.note.dir.ReadNote()
	for _, g := range l.guards {
		err = errors.Join(err, g.Resume(step, isCut, note))
	}
	return err
}

// Close closes the turn that is open, if any.
func (l *List) Close() {
	if l.endTurn != nil {
		l.endTurn()
	}
	l.endTurn = nil
}

// Note is what the guards of a run keep. It is written only when it differs.
type Note struct {
	dir   rundir.Dir
	parts map[string]json.RawMessage
	sha   string // of the note as it was written last; "": it is to be written
}

// NewNote returns an empty note for a folder.
func NewNote(dir rundir.Dir) *Note { return &Note{dir: dir, parts: map[string]json.RawMessage{}} }

// Put changes what a guard keeps.
func (n *Note) Put(name string, kept any) error {
	text, err := json.Marshal(kept)
	if err == nil && !bytes.Equal(text, n.parts[name]) {
		n.parts[name], n.sha = text, ""
	}
	return err
}

// Save writes the note if it has changed, and returns its SHA-256.
func (n *Note) Save() (sha string, err error) {
	if n.sha == "" && len(n.parts) > 0 {
		n.sha, err = n.dir.WriteNote(n.parts)
	}
	return n.sha, err
}

// Rewrite writes the note even if it has not changed: an agent may have removed the file.
func (n *Note) Rewrite() error {
	n.sha = ""
	_, err := n.Save()
	return err
}
