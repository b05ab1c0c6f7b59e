package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/term"

	"kanban-run/orchestrator/proc"
)

// guard is the life of the process that the user started, when its command starts agents: the command itself runs in a child
// of it, the runner. See package proc. told says that the runner has said itself how it ended.
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
		err = errorOf(fate, c.goesOn)
	}
	return fate.Code, fate.Told, err
}

// keepTerminal gives the terminal back as it is now, even if the runner is killed while it has it for itself.
func keepTerminal() (giveBack func()) {
	fd := int(os.Stdin.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return func() {} // there is none
	}
	return func() { _ = term.Restore(fd, state) }
}

// unpaste ends the mode in which a terminal marks what is pasted: a runner that was killed has left it on.
func (t *terminal) unpaste() {
	if term.IsTerminal(int(t.screen.Fd())) {
		_ = t.stdout.PrintTrusted("\x1b[?2004l")
	}
}

// errorOf is what there is to say about the runner's end that it could not say itself, and how it goes on.
func errorOf(fate proc.Fate, goesOn string) error {
	switch {
	case fate.Told:
		return nil
	case fate.Asked != 0 && (fate.Signal == fate.Asked || fate.Asked == syscall.SIGQUIT):
		return &signalError{fate.Asked} // before it listened to the guardian
	case fate.Signal != 0:
		return &killedError{fate.Signal, goesOn}
	default:
		return fmt.Errorf("the runner crashed (exit status %d)", fate.Code)
	}
}

// killedError is a runner that was killed by somebody else than its guardian.
type killedError struct {
	signal syscall.Signal
	goesOn string // see command
}

func (e *killedError) Error() string {
	return fmt.Sprintf("the run was ended from outside (%v); its agents were ended too", e.signal)
}

// Hint says what to do about it.
func (e *killedError) Hint() string {
	return e.goesOn + "; signal this process instead, which stops the agent first. If nobody did it, look whether memory ran out"
}

// guardianLost stops a runner whose guardian was killed: nobody would be there to end its agents.
func (t *terminal) guardianLost() error { return &killedError{syscall.SIGKILL, t.goesOn} }

// join returns the runner's side of the link to its guardian, nil when this process has none.
func join(args []string) (*proc.Link, []string, error) {
	if len(args) == 0 || args[0] != proc.RunnerCommand {
		return nil, args, nil
	}
	link, err := proc.Join()
	if err != nil {
		return nil, nil, &usageError{text: args[0] + " is not for people", hint: "kanban-run run does the same"}
	}
	return link, args[1:], nil
}
