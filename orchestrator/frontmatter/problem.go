package frontmatter

import "fmt"

// Problem is something wrong or odd at a place in a file. Line and Column count from 1. Column
// counts characters. Line 0 means the whole file. File is "" if Text itself names the place, such as
// a flag.
type Problem struct {
	File         string
	Line, Column int
	Text         string
	Fix          string // what to do about it; may be ""
	Warning      bool   // the file is odd but legal, so it is not refused
	Err          error  // the cause, or nil
}

func (p *Problem) Error() string {
	switch {
	case p.File == "":
		return p.Text
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Hint returns advice for the user.
func (p *Problem) Hint() string { return p.Fix }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }
