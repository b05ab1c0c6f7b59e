package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/proc"
)

const (
	// questionTime bounds one question: programs that open a browser or wait for a terminal would never answer.
	questionTime = 30 * time.Second
	maxAnswer    = 1 << 20
)

// Question starts the tool's program with arguments that have it say something about itself, such as --version, and returns what it prints.
// Errors: *ConfigError, or the cause of stop.
func (t Tool) Question(stop context.Context, a Assignment, args ...string) (string, error) {
	argv, err := t.Start(a)
	if err != nil {
		return "", err
	}
	var said, besides answer // some print their help on standard error
	exit, err := proc.Run(stop, stop, &proc.Spec{Argv: append(argv, args...), Dir: a.Dir, Env: a.Env, Stdout: &said, Stderr: &besides, Timeout: questionTime})
	switch {
	case exit.Stopped:
		return "", context.Cause(stop)
	case err != nil:
		return "", startProblem(err)
	case exit.TimedOut || exit.Code != 0:
		text := fmt.Sprintf("%s %s: %s", t.Program, strings.Join(args, " "), exit)
		if last := OneLine(LastLine(string(besides))); last != "" {
			text += ": " + last
		}
		return "", &ConfigError{Text: text,
			Fix: "start it by hand and see what it says; it is installed anew by " + t.Install}
	}
	return string(said) + "\n" + string(besides), nil
}

// LastLine is where programs say why they ended.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// answer keeps the beginning of what a program says.
type answer []byte

func (a *answer) Write(p []byte) (int, error) {
	*a = append(*a, p[:min(len(p), max(0, maxAnswer-len(*a)))]...)
	return len(p), nil
}
