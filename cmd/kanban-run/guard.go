package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/term"

	"kanban-run/orchestrator/proc"
)

// guard runs the command in a child process, the runner, and returns the runner's exit code. This
// process, which the user started, is the guardian (see package proc). The result told is true if
// the runner itself has reported how the run ended.
func (c command) guard(args []string) (code int, told bool, err error) {
	if c.keys {
		defer keepTerminal()()
	}
	fate, err := proc.Guard(append([]string{c.name}, args...))
	var leftover *proc.LeftoverError
	if err != nil && !errors.As(err, &leftover) {
		return 0, false, fmt.Errorf("guard the run: %w", err)
	}
	if err == nil {
		err = fateError(fate, c.resumeHint)
	}
	return fate.Code, fate.Told, err
}

// keepTerminal returns a function that restores the terminal to its present mode, even if the
// runner is killed in raw mode.
func keepTerminal() (restore func()) {
	fd := int(os.Stdin.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return func() {} // no terminal
	}
	return func() { _ = term.Restore(fd, state) }
}

// endPasteMode ends bracketed-paste mode, because a killed runner leaves the mode on.
func (t *terminal) endPasteMode() {
	if term.IsTerminal(int(t.screen.Fd())) {
		_ = t.stdout.PrintTrusted("\x1b[?2004l")
	}
}

// fateError returns the error for a runner that did not report its end itself, or nil if it did.
func fateError(fate proc.Fate, resumeHint string) error {
	switch {
	case fate.Told:
		return nil
	case fate.Asked != 0 && (fate.Signal == fate.Asked || fate.Asked == syscall.SIGQUIT):
		return &signalError{fate.Asked} // the runner did not listen yet, or hung after SIGQUIT
	case fate.Signal != 0:
		return &killedError{fate.Signal, resumeHint}
	default:
		return fmt.Errorf("the runner crashed (exit status %d)", fate.Code)
	}
}

// killedError is the end of a run whose runner or guardian was killed from outside.
type killedError struct {
	signal     syscall.Signal
	resumeHint string // see command.resumeHint
}

// SignalExit returns the exit code of a shell for the signal.
func (e *killedError) SignalExit() int { return 128 + int(e.signal) }

func (e *killedError) Error() string {
	return fmt.Sprintf("the run was ended from outside (%v); its agents were ended too", e.signal)
}

// Hint returns the hint line that explain prints.
func (e *killedError) Hint() string {
	return e.resumeHint + "; signal this process instead, which stops the agent first. If no signal was " +
		"sent, memory may have run out"
}

// guardianLost returns the error with which a runner stops after its guardian was killed. Without a
// guardian, agents would go on if the runner were killed too.
func (t *terminal) guardianLost() error { return &killedError{syscall.SIGKILL, t.resumeHint} }

// join connects a runner to its guardian and returns the arguments of the runner's command. In any
// other process the link is nil, and the returned arguments are args.
func join(args []string) (*proc.Link, []string, error) {
	if len(args) == 0 || args[0] != proc.RunnerCommand {
		return nil, args, nil
	}
	link, err := proc.Join()
	if err != nil {
		return nil, nil, &usageError{text: args[0] + " is for kanban-run itself", hint: "kanban-run run does the same"}
	}
	return link, args[1:], nil
}
