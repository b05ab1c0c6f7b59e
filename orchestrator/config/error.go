package config

import "fmt"

// Error reports a wrong setting, which the user can mend.
type Error struct {
	File string // the settings file; "" for a flag or a variable, which Text names
	Line int    // zero means the whole file
	Text string
	Fix  string
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Text
	case e.Line == 0:
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Hint returns advice for the user.
func (e *Error) Hint() string { return e.Fix }
