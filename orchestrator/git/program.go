package git

import (
	"fmt"

	"kanban-run/orchestrator/proc"
)

// Program is a git, and where it finds the programs that it starts: ssh, gpg, credential helpers.
type Program struct {
	Path   string // absolute
	Search proc.SearchPath
}

// InsideError is the error of Open if all gits of PATH are where agents can put one.
type InsideError struct{ Path string }

func (e *InsideError) Error() string {
	return fmt.Sprintf("git was found only as %s, which agents can write", e.Path)
}

// Hint names the remedy.
func (e *InsideError) Hint() string {
	return "install git outside of the work tree, in a folder of PATH"
}

// find returns the first git outside of the work tree around dir. Errors: ErrMissing, *InsideError.
func find(dir string) (Program, error) {
	search := proc.OutsideOf(TopOf(dir))
	if path, err := search.Look("git"); err == nil {
		return Program{path, search}, nil
	}
	if path, err := proc.LookPath("git", dir); err == nil {
		return Program{}, &InsideError{path}
	}
	return Program{}, ErrMissing
}
