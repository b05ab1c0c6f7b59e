package board

import (
	"errors"

	"kanban-run/orchestrator/frontmatter"
)

// FileError says why a board or a folder cannot be used as a file. Err is the cause.
type FileError struct {
	Op, File string
	Err      error
	Fix      string
}

func (e *FileError) Error() string { return e.Op + " " + e.File + ": " + e.Err.Error() }

// Hint is what to do about it.
func (e *FileError) Hint() string { return e.Fix }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// PathError says why a path on a board leads to no task file. One for a file that does not exist matches fs.ErrNotExist.
type PathError struct {
	Path string
	Text string
	Err  error
	hint func() string // asked only when somebody wants to know: it looks at the disk
}

func (e *PathError) Error() string { return e.Path + ": " + e.Text }

// Hint is what to do about it.
func (e *PathError) Hint() string {
	if e.hint == nil {
		return ""
	}
	return e.hint()
}

// Unwrap returns the cause.
func (e *PathError) Unwrap() error { return e.Err }

// SpliceError says that an edit cannot be made without touching more of the board than it should.
type SpliceError struct{ File, Text string }

func (e *SpliceError) Error() string { return "edit board " + e.File + ": " + e.Text }

// Hint is what to do about it.
func (e *SpliceError) Hint() string {
	return "write phase, current and tasks as plain key: value lines, tasks as a list with one - PATH a line"
}

// placed gives an error the place of p, whose Text is put before it.
func placed(err error, p *frontmatter.Problem) error {
	var own *frontmatter.Problem
	if errors.As(err, &own) {
		return err
	}
	p.Text, p.Fix, p.Err = p.Text+err.Error(), hintOf(err), err
	return p
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
