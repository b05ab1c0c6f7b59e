package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/proc"
)

// Start returns the beginning of a tool's command line: the role's own command or, if the role has
// none, the tool's program. The program's path replaces its name. Errors: *ConfigError.
func (t Tool) Start(a Assignment) ([]string, error) {
	words := []string{t.Program}
	if len(a.Command) > 0 && a.Command[0] != "" {
		words = slices.Clone(a.Command)
	}
	path, err := proc.LookPath(cmp.Or(a.Path, words[0]), a.Dir)
	var start *proc.StartError
	if errors.As(err, &start) {
		return nil, &ConfigError{
			Text: fmt.Sprintf("%s cannot be started: %v", t.Program, start.Err),
			Fix: fmt.Sprintf("install it: %s; or give another agent with --agent or --exec, or try the board "+
				"with --dry-run, which needs none",
				t.Install),
			Missing: true,
		}
	}
	words[0] = path
	return words, nil
}

// Unstarted returns an error for a program that has ended before its first event, because it or its
// interpreter is missing or only half installed. 127 is the exit status of env and of a shell for a
// missing program, and MODULE_NOT_FOUND is Node's word for a missing part. It returns nil for any
// other end, and for a program that reports no events.
func (t Tool) Unstarted(name string, exit proc.Exit, stderr string) *ConfigError {
	var said string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(said, "Cannot find module") {
			said = line
		}
	}
	missing := exit.Code == 127 || exit.Code != 0 && strings.Contains(stderr, "MODULE_NOT_FOUND")
	if !t.Signals.Session || !missing {
		return nil
	}
	return &ConfigError{Text: fmt.Sprintf("%s cannot be started: %s (%s)", name, said, exit), Missing: true,
		Fix: "install what is missing, or have PATH lead to it"}
}

// IsHopeless reports whether a retry would fail with the same error: a *ConfigError, *LaterError or
// *LimitError.
func IsHopeless(err error) bool {
	return errors.As(err, new(*ConfigError)) || errors.As(err, new(*LaterError)) || errors.As(err, new(*LimitError))
}
