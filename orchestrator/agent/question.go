package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/proc"
)

const (
	// questionTime bounds one question, because a program that opens a browser or waits for a
	// terminal never answers.
	questionTime = 30 * time.Second
	maxAnswer    = 1 << 20
)

// Query starts the tool's program with arguments like --version, and returns its standard output
// and standard error. Errors: *ConfigError, or the cause of the cancelled context.
func (t Tool) Query(stop context.Context, a Assignment, args ...string) (string, error) {
	argv, err := t.Start(a)
	if err != nil {
		return "", err
	}
	var stdout, stderr answer // some programs print their help on standard error
	exit, err := proc.Run(stop, stop, &proc.Spec{
		Argv:    append(argv, args...),
		Dir:     a.Dir,
		Env:     a.Env,
		Stdout:  &stdout,
		Stderr:  &stderr,
		Timeout: questionTime,
	})
	switch {
	case exit.Stopped:
		return "", context.Cause(stop)
	case err != nil:
		return "", startProblem(err)
	case exit.TimedOut || exit.Code != 0:
		text := fmt.Sprintf("%s %s: %s", t.Program, strings.Join(args, " "), exit)
		if last := OneLine(LastLine(string(stderr))); last != "" {
			text += ": " + last
		}
		return "", &ConfigError{Text: text,
			Fix: "start it by hand and see what it says; it is installed anew by " + t.Install}
	}
	return string(stdout) + "\n" + string(stderr), nil
}

// LastLine returns the last line of a text, where most programs explain a failure.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// answer keeps the first 1 MiB of a program's output.
type answer []byte

func (a *answer) Write(p []byte) (int, error) {
	*a = append(*a, p[:min(len(p), max(0, maxAnswer-len(*a)))]...)
	return len(p), nil
}
