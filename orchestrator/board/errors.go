package board

import (
	"errors"

	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/frontmatter"
)

// FileError reports that a board cannot be read, or that a folder cannot be used as work directory.
// Err is the cause.
type FileError struct {
	Op, File string
	Err      error
	Fix      string
}

func (e *FileError) Error() string { return e.Op + " " + e.File + ": " + e.Err.Error() }

// Hint returns advice for the user.
func (e *FileError) Hint() string { return e.Fix }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// PathError reports that a path on a board leads to no task file. It matches fs.ErrNotExist when
// the file does not exist.
type PathError struct {
	Path string
	Text string
	Err  error
	hint func() string // returns the advice; called only on demand, because it reads the disk
}

func (e *PathError) Error() string { return e.Path + ": " + e.Text }

// Hint returns advice for the user.
func (e *PathError) Hint() string {
	if e.hint == nil {
		return ""
	}
	return e.hint()
}

// Unwrap returns the cause.
func (e *PathError) Unwrap() error { return e.Err }

// SpliceError reports that an edit cannot be made without touching other parts of the board.
type SpliceError struct{ File, Text string }

func (e *SpliceError) Error() string { return "edit board " + e.File + ": " + e.Text }

// Hint returns advice for the user.
func (e *SpliceError) Hint() string {
	return "write phase, current and tasks as plain key: value lines, tasks as a list with one - PATH a line"
}

// addPlace returns p with err as its cause and with the text of err after the text of p. If err
// already has a place, addPlace returns err as it is.
func addPlace(err error, p *frontmatter.Problem) error {
	var own *frontmatter.Problem
	if errors.As(err, &own) {
		return err
	}
	p.Text, p.Fix, p.Err = p.Text+err.Error(), failure.HintOf(err), err
	return p
}
