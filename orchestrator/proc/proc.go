// Package proc runs a command to its end and makes sure that all of it is gone afterwards: its process group, and on Linux
// every process that it left behind, also if this process is killed: see Guard.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"kanban-run/orchestrator/failpoint"
)

// Spec says what to run.
type Spec struct {
	Argv   []string // Argv[0] is the program's path (see LookPath) and what the program is told as its name
	Dir    string   // working directory
	Env    []string // the whole environment: nil is an empty one
	Stdin  []byte
	Stdout io.Writer // nil discards
	Stderr io.Writer // nil discards; it may be written to at the same time as Stdout

	// Terminal is the command's standard input and output, and the terminal of a session of its own, in place of Stdin and Stdout: it
	// is the far side of a pty, and who has the near side talks to the command. nil: pipes. Not on Windows. Input, if there is one, is
	// the standard input even so.
	Terminal, Input *os.File

	Timeout time.Duration // from start to end; 0 is no limit
	Grace   time.Duration // between the request to end and the kill

	Mark Mark // by which EndMarked finds what is left after a crash of this process; 0: one of its own
}

// drainTime is for processes that hold a pipe open and could not be ended. What is in a pipe is read in far less.
const drainTime = 5 * time.Second

// Mark tells the processes of one command from all others for as long as they live, whatever they do to their group, session or
// environment. Only Linux has a place for it.
type Mark uint64

// NewMark makes a mark that nobody else has.
func NewMark() Mark { return Mark(1<<62 | rand.Uint64()>>16) }

// Exit says how a command ended.
type Exit struct {
	Code     int    // exit status; -1 when a signal ended it, or when it was not started
	Signal   string // "terminated", "killed", …; "" when none did
	TimedOut bool   // it was ended because it took longer than Timeout
	Stopped  bool   // it was ended, or not started, because of stop or kill
	Timeout  time.Duration
	Duration time.Duration
}

// String is "exit status 1", "killed by signal: terminated" or "timed out after 1s (killed by signal: killed)".
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

// LeftoverError says that processes of the command outlived even SIGKILL.
type LeftoverError struct{ Pids []int } // none: the system does not list them

func (e *LeftoverError) Error() string {
	if len(e.Pids) == 0 {
		return "processes that the command left behind cannot be found"
	}
	return fmt.Sprintf("processes that the command left behind cannot be ended: %v", e.Pids)
}

// Run starts the command in a process group of its own and returns when it has ended, nothing of it is left and its output was
// written. A command that stop or the timeout ends is asked first: SIGTERM to the group, SIGKILL after the grace; kill skips
// the question and cuts a grace short. A command that has ended by then is not called stopped.
//
// The command need not read its standard input or keep its outputs open, and who fails to write its output does not disturb
// it. Errors: *StartError when it cannot be started at all, *LeftoverError, or what the system or the writers said.
func Run(stop, kill context.Context, s *Spec) (Exit, error) {
	p, err := Start(stop, kill, s)
	if err != nil {
		return Exit{Code: -1}, err
	}
	p.Wait()
	return p.End()
}

// Process is a command that Start has started, for who does not want to wait for it with all of Run on the stack. Wait and then End are
// called, once each.
type Process struct {
	*child // nil: stop or kill came first
	pipes  *streams
	stop   context.Context
	kill   context.Context

	timeout, grace time.Duration // of the Spec, which is not kept

	timer    *time.Timer   // of the timeout; nil: there is none
	late     chan struct{} // closed by it: to wait for a timer's own channel takes twice the stack
	timedOut bool
	stopped  bool
}

// Start is the beginning of Run.
func Start(stop, kill context.Context, s *Spec) (*Process, error) {
	p := &Process{stop: stop, kill: kill, timeout: s.Timeout, grace: s.Grace}
	if p.isStopped() {
		return p, nil
	}
	var err error
	if p.pipes, err = open(s); err != nil {
		return nil, fmt.Errorf("open pipes: %w", err)
	}
	if p.child, err = start(stop, kill, s, p.pipes.theirs); err != nil {
		p.pipes.close()
		if p.isStopped() {
			return p, nil
		}
		return nil, err
	}
	p.pipes.give(s.Stdin)
	p.pipes.pump()
	p.watch()
	if s.Timeout > 0 {
		late := make(chan struct{})
		p.late, p.timer = late, time.AfterFunc(s.Timeout-time.Since(p.began), func() { close(late) })
	}
	return p, nil
}

func (p *Process) isStopped() bool { return p.stop.Err() != nil || p.kill.Err() != nil }

// Wait returns when the leader has ended, or has to be ended.
func (p *Process) Wait() {
	if p.child == nil || p.hasEnded() {
		return
	}
	select {
	case <-p.ended:
	case <-p.late:
		p.timedOut = true
	case <-p.stop.Done():
		p.stopped = true
	case <-p.kill.Done():
		p.stopped = true
	}
}

// End is what is left of Run.
func (p *Process) End() (Exit, error) {
	if p.child == nil {
		return Exit{Code: -1, Stopped: true}, nil
	}
	p.settle()
	failpoint.At("agent-ended")
	exit := Exit{TimedOut: p.timedOut, Stopped: p.stopped, Timeout: p.timeout, Duration: time.Since(p.began)}
	err := errors.Join(p.finish(&exit), p.sweep())
	return exit, errors.Join(err, p.pipes.drain())
}

// settle ends the leader where it has to be ended.
func (p *Process) settle() {
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.hasEnded() { // at the same moment, of its own accord
		p.timedOut, p.stopped = false, false
		return
	}
	p.end(p.kill, p.grace)
}

// child is the command's first process, the leader of its group. It is not reaped before finish, so its number stays its own
// for as long as signals are sent.
type child struct {
	pid   int
	began time.Time
	ended chan struct{} // closed when it has ended; see watch
	kin                 // what this system needs to find the rest
}

func newChild(pid int, k kin) *child {
	return &child{pid: pid, began: time.Now(), ended: make(chan struct{}), kin: k}
}

func (c *child) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

func (c *child) end(kill context.Context, grace time.Duration) {
	if kill.Err() == nil && grace > 0 {
		c.askToEnd()
		failpoint.At("term-sent")
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-c.ended:
		case <-timer.C:
		case <-kill.Done():
		}
	}
	c.killBelow()
	c.killGroup()
	<-c.ended
}

// finish ends what is left of the group, also after a normal end, and reaps the leader.
func (c *child) finish(exit *Exit) error {
	c.killGroup()
	status, err := c.reap()
	if err != nil {
		exit.Code = -1
		return fmt.Errorf("wait for the command: %w", err)
	}
	exit.Code = status.ExitStatus()
	if status.Signaled() {
		exit.Signal = status.Signal().String()
	}
	return nil
}
