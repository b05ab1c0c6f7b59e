// Package proc runs a command to its end, and then ends all processes of the command's group. On
// Linux it also ends every process that the command left behind, and with Guard it does so even if
// this process is killed.
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
	Argv      []string // Argv[0] is both the program's path (see LookPath) and its name
	Dir       string   // working directory
	Env       []string // the whole environment; nil means an empty one
	Stdin     []byte
	KeepInput bool      // keep the standard input open after Stdin; see Process.Send
	Stdout    io.Writer // nil discards the output
	Stderr    io.Writer // nil discards it; written by another goroutine than Stdout

	// Terminal is the command's side of a pty. It replaces Stdin and Stdout, and it is the
	// controlling terminal of the command. If Terminal is nil, the command gets pipes, and it has no
	// controlling terminal. If both Terminal and Input are set, Input is the standard input.
	Terminal, Input *os.File

	Timeout time.Duration // longest time from the command's start to its end; 0 means no limit
	Grace   time.Duration // time between SIGTERM and SIGKILL

	Mark Mark // 0 means a new mark; see EndMarked

	// Waits, unless it is nil, is called if Start waits because the system is out of processes, with the
	// system's error.
	Waits func(error)

	// Held is a file that the command inherits, so that a lock of it lasts as long as the command. If
	// it is nil, the command inherits no other files than its streams.
	Held *os.File

	// Stays means that the command keeps running while others start and end. Its Mark must differ
	// from those of all other commands. If an orphan of this command loses the mark, the end of
	// another command may kill the orphan.
	Stays bool
}

// drainTime bounds the wait for pipes that a process still holds open although it should have
// ended. Reading the rest of a pipe takes far less.
const drainTime = 5 * time.Second

// Mark distinguishes the processes of one command from all others for as long as they live, even if
// they change their group, session or environment. Only on Linux can a process bear a mark.
type Mark uint64

// NewMark returns a mark that no other command has.
func NewMark() Mark { return Mark(1<<62 | rand.Uint64()>>16) }

// MarkOf returns a mark that depends only on the name.
func MarkOf(name string) Mark {
	sum := sha256.Sum256([]byte(name))
	return Mark(1<<62 | binary.BigEndian.Uint64(sum[:])>>16)
}

// Exit is the end of a command.
type Exit struct {
	Code     int       // exit status; -1 if a signal ended it or it was not started
	Signal   string    // signal that ended it, such as "terminated"; "" if none did
	TimedOut bool      // the timeout ended it
	Stopped  bool      // Stop or Kill ended it, or it was stopped before its start
	Asked    time.Time // when the timeout, Stop or Kill first asked it to end; zero if none did
	Timeout  time.Duration
	Duration time.Duration
}

// Succeeded reports whether the command ended by itself and with status 0.
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
type LeftoverError struct{ Pids []int } // empty if the system cannot list them

func (e *LeftoverError) Error() string {
	if len(e.Pids) == 0 {
		return "processes that the command left behind cannot be found"
	}
	return fmt.Sprintf("processes that the command left behind cannot be ended: %v", e.Pids)
}

// Run starts the command in a new session. It returns when all its processes have ended and
// its output is written. When the context stop is done or the timeout is over, Run sends SIGTERM to
// the group, and SIGKILL after the grace. When the context kill is done, Run sends SIGKILL at once,
// even during a grace. A command that has already ended does not count as stopped.
//
// The command need not read its standard input or keep its outputs open, and a writer that fails
// does not disturb the command. Errors: *StartError if the command cannot be started at all,
// *LeftoverError, or an error of the system or the writers.
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

// either returns a context that ends as soon as one of the contexts a and b ends.
func either(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a)
	detach := context.AfterFunc(b, cancel)
	return ctx, func() { detach(); cancel() }
}
