package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"kanban-run/orchestrator/failpoint"
)

// StartError reports that every start of a command would fail, for instance because its program
// does not exist or is not executable.
type StartError struct {
	Argv0  string
	Err    error
	folder bool // the working directory is missing
	beside bool // a file of that name is in the working directory
}

func (e *StartError) Error() string { return fmt.Sprintf("cannot start %s: %v", e.Argv0, e.Err) }
func (e *StartError) Unwrap() error { return e.Err }

// IsGone reports whether the program, or the interpreter of a script, is not there or only half
// written, as while a tool updates itself.
func (e *StartError) IsGone() bool {
	return !e.folder && (errors.Is(e.Err, fs.ErrNotExist) || errors.Is(e.Err, exec.ErrNotFound) || errors.Is(e.Err, syscall.ENOEXEC))
}

// Hint returns the remedy if the cause is a common one, or "" otherwise.
func (e *StartError) Hint() string {
	switch {
	case errors.Is(e.Err, exec.ErrNotFound) && e.beside:
		return "write ./" + e.Argv0 + ": a name without a slash is looked for in the folders of PATH"
	case errors.Is(e.Err, exec.ErrNotFound):
		return "install it, or name it by its path"
	case errors.Is(e.Err, syscall.EPERM):
		return "the system forbids to start a program in a session of its own, as the rules of some containers do (seccomp): allow setsid and prlimit"
	case errors.Is(e.Err, fs.ErrPermission) && e.isExecutable():
		return "it is executable: a folder above it forbids that, its interpreter is not, or its file system is mounted with noexec"
	case errors.Is(e.Err, fs.ErrPermission):
		return "make it executable: chmod +x " + e.Argv0
	case errors.Is(e.Err, fs.ErrNotExist) && !e.folder:
		return "correct the path, of the program or of the one that a script's first line names"
	case errors.Is(e.Err, syscall.EISDIR):
		return "it is a folder: name the program in it"
	case errors.Is(e.Err, syscall.ENOEXEC):
		return "begin a script with a line like #!/bin/sh"
	default:
		return ""
	}
}

func (e *StartError) isExecutable() bool {
	info, err := os.Stat(e.Argv0)
	return err == nil && info.Mode()&0o111 != 0
}

// The times of retryStart. The pauses between its tries grow from firstPause to longPause. The
// constant named patience is the time after which retryStart gives up.
const (
	firstPause = 10 * time.Millisecond
	longPause  = time.Second
	patience   = time.Minute
)

func startChild(ctx context.Context, s *Spec, files inherited) (*child, error) {
	var c *child
	err := retryStart(ctx, s.Waits, func() error {
		var err error
		if c, err = forkChild(s, files); err == nil {
			failpoint.At("forked")
		}
		if errors.Is(err, syscall.EBADF) { // a descriptor was over the limit
			err = syscall.EMFILE
		}
		return err
	})
	if err == nil || isShortage(err) || ctx.Err() != nil {
		return c, err
	}
	if _, dirErr := os.Stat(s.Dir); s.Dir != "" && dirErr != nil {
		// The system's error would report that the program is missing.
		return nil, &StartError{Argv0: s.Argv[0], Err: dirErr, folder: true}
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return nil, &StartError{Argv0: s.Argv[0], Err: err}
}

// isShortage reports whether an error means a temporary shortage of the system, and not a fault of
// the command.
func isShortage(err error) bool {
	for _, short := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, short) {
			return true
		}
	}
	return false
}

// retryStart repeats the function try in two cases, which are not the command's fault: the system
// is out of processes (EAGAIN), or the program was just written and a fork of another goroutine
// still holds it open (ETXTBSY). It gives up after the time patience, or when ctx is done. It calls the
// function waits, unless that is nil, once with the cause of a long wait.
func retryStart(ctx context.Context, waits func(error), try func() error) error {
	deadline := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		err := try()
		if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, errTextBusy) || time.Now().After(deadline) {
			return err
		}
		if pause == longPause && waits != nil {
			waits(err)
			waits = nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}
