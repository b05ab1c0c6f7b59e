// Package git runs git in a repository that agents may have changed: no hook, no file system
// monitor and no maintenance that its settings name is started, nothing is asked at a terminal,
// and what a killed git has started is ended with it.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"kanban-run/orchestrator/proc"
)

// Git is how git is run.
type Git struct {
	Program   string   // its path, see Find
	Dir       string   // working directory
	Env       []string // besides that of Run
	Settings  []string // NAME=VALUE, which win over those of files
	Mark      proc.Mark
	Timeout   time.Duration // of each call; 0: none
	MaxOutput int           // bytes that are kept of its output; 0: all
}

// Find is the path of the program. Errors: *proc.StartError.
func Find(dir string) (string, error) { return proc.LookPath("git", dir) }

// Error is a git that failed.
type Error struct {
	Args   []string
	Exit   proc.Exit
	Stderr string // its last words
}

func (e *Error) Error() string {
	text := "git " + e.Args[0] + ": " + e.Exit.String()
	if e.Exit.TimedOut {
		text = fmt.Sprintf("git %s took longer than %v", e.Args[0], e.Exit.Timeout)
	}
	if words := strings.TrimSpace(e.Stderr); words != "" {
		text += ": " + words
	}
	return text
}

// ErrTooLong says that git printed more than MaxOutput.
var ErrTooLong = errors.New("git printed too much")

// mostWords bounds what is kept of standard error.
const mostWords = 4 << 10

// Run returns what git prints. Errors: *Error, [ErrTooLong], or what the system says.
func (g Git) Run(stop context.Context, stdin []byte, args ...string) (string, error) {
	argv := []string{g.Program, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}
	for _, s := range g.Settings {
		argv = append(argv, "-c", s)
	}
	env := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0"}, g.Env...)
	var stdout bytes.Buffer
	var out io.Writer = &stdout
	if g.MaxOutput > 0 {
		out = &limited{&stdout, g.MaxOutput + 1}
	}
	words := &limited{&bytes.Buffer{}, mostWords}
	exit, err := proc.Run(stop, stop, &proc.Spec{Argv: append(argv, args...), Dir: g.Dir, Env: env, Stdin: stdin, Stdout: out, Stderr: words, Mark: g.Mark, Timeout: g.Timeout, Grace: time.Second})
	switch {
	case err != nil:
		return "", fmt.Errorf("run git %s: %w", args[0], err)
	case exit.Stopped:
		return "", context.Cause(stop)
	case !exit.Succeeded():
		return stdout.String(), &Error{args, exit, words.String()}
	case g.MaxOutput > 0 && stdout.Len() > g.MaxOutput:
		return "", ErrTooLong
	}
	return stdout.String(), nil
}

// limited drops what is beyond a number of bytes.
type limited struct {
	*bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(0, l.most-l.Len()))])
	return len(p), nil
}
