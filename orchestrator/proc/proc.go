// Package proc runs a command to its end and ends all its processes: its process group, and on
// Linux every process that it left behind, even if this process is killed: see Guard.
package proc

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// Spec describes a command.
type Spec struct {
	Argv      []string // Argv[0] is the program's path, see LookPath, and its name
	Dir       string   // working directory
	Env       []string // the whole environment; nil: empty
	Stdin     []byte
	KeepInput bool      // leave the standard input open after Stdin, see Process.Send
	Stdout    io.Writer // nil discards
	Stderr    io.Writer // nil discards; another goroutine than that of Stdout writes to it

	// Terminal is the command's side of a pty. It replaces Stdin and Stdout, and the command runs
	// in a session of its own on this terminal. nil: pipes. Input, unless nil, is the standard
	// input of a command with a Terminal.
	Terminal, Input *os.File

	Timeout time.Duration // from start to end; 0: no limit
	Grace   time.Duration // between SIGTERM and SIGKILL

	Mark Mark // see EndMarked; 0: a new one

	// Stays means that the command keeps running while others start and end. No other command may
	// have its Mark. If an orphan of it has lost the mark, the end of any other command may end the
	// orphan, too.
	Stays bool
}

// drainTime bounds the wait for processes that hold a pipe open and could not be ended. Reading the
// rest of a pipe takes far less.
const drainTime = 5 * time.Second

// Mark distinguishes the processes of one command from all others for as long as they live, even if
// they change their group, session or environment. Only Linux has a place for it.
type Mark uint64

// NewMark returns a mark that no other command has.
func NewMark() Mark { return Mark(1<<62 | rand.Uint64()>>16) }

// MarkOf returns the mark of a name, the same one each time.
func MarkOf(name string) Mark {
	sum := sha256.Sum256([]byte(name))
	return Mark(1<<62 | binary.BigEndian.Uint64(sum[:])>>16)
}

// Exit is the end of a command.
type Exit struct {
	Code     int    // exit status; -1: a signal ended it, or it was not started
	Signal   string // the signal that ended it, "terminated", "killed", …, or "" if there is none
	TimedOut bool   // the timeout ended it
	Stopped  bool   // Stop or Kill ended it, or Run's stop or kill was done before the start
	Timeout  time.Duration
	Duration time.Duration
}

// Succeeded reports whether the command ended by itself, with the status 0.
func (e Exit) Succeeded() bool { return e.Code == 0 && e.Signal == "" && !e.TimedOut && !e.Stopped }

// String returns "exit status 1", "killed by signal: terminated" or "timed out after 1s (killed by
// signal: killed)".
func (e Exit) String() string {
	end := fmt.Sprintf("exit status %d", e.Code)
	switch {
	case e.Signal != "":
		end = "killed by signal: " + e.Signal
	case e.Code < 0 && e.Stopped:
		return "stopped before it started"
	}
	switch {
	case e.TimedOut:
		return fmt.Sprintf("timed out after %v (%s)", e.Timeout, end)
	case e.Stopped:
		return fmt.Sprintf("stopped (%s)", end)
	default:
		return end
	}
}

// LeftoverError reports that processes of the command outlived even SIGKILL.
type LeftoverError struct{ Pids []int } // empty: the system does not list them

func (e *LeftoverError) Error() string {
	if len(e.Pids) == 0 {
		return "processes that the command left behind cannot be found"
	}
	return fmt.Sprintf("processes that the command left behind cannot be ended: %v", e.Pids)
}

// Run starts the command in a process group of its own and returns when all its processes have
// ended and its output is written. stop and the timeout send SIGTERM to the group, and SIGKILL
// after the grace; kill sends SIGKILL at once, also during a grace. A command that has ended by
// then does not count as stopped.
//
// The command need not read its standard input or keep its outputs open, and a writer that fails
// does not disturb it. Errors: *StartError if it cannot be started at all, *LeftoverError, or an
// error of the system or the writers.
func Run(stop, kill context.Context, s *Spec) (Exit, error) {
	isStopped := func() bool { return stop.Err() != nil || kill.Err() != nil }
	if isStopped() {
		return Exit{Code: -1, Stopped: true}, nil
	}
	starting, cancel := either(stop, kill)
	p, err := Start(starting, s)
	cancel()
	if err != nil && isStopped() {
		return Exit{Code: -1, Stopped: true}, nil
	}
	if err != nil {
		return Exit{Code: -1}, err
	}
	defer context.AfterFunc(stop, p.Stop)()
	defer context.AfterFunc(kill, p.Kill)()
	return p.Wait()
}

// either returns a context that ends as soon as a or b does.
func either(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a)
	detach := context.AfterFunc(b, cancel)
	return ctx, func() { detach(); cancel() }
}
