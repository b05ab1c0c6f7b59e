package proc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kanban-run/orchestrator/failpoint"
)

// Process is a command that Start has started. Two goroutines read its outputs. Wait waits for its
// end, and ends the processes that it left behind. Stop, Kill and the timers only send signals, and
// none after the command's end.
type Process struct {
	child   *child
	streams *streams
	timeout time.Duration
	grace   time.Duration

	wait sync.Once
	exit Exit // set together with err by the first call of Wait
	err  error

	mu     sync.Mutex
	ended  bool      // the leader has ended; another process may get its number
	killed bool      // SIGKILL was sent
	cause  cause     // why the command is being ended, or was ended
	asked  time.Time // when cause was set
	gentle bool      // StopGently has closed the input, and SIGTERM follows
	timer  *Timer    // timer of the timeout, then of the grace; nil if there is none
}

// cause is the reason for ending a command. The first reason counts.
type cause int

const (
	none cause = iota // the command runs, or ended by itself
	timedOut
	stopped
)

// Start starts the command in a new session. While the system is out of processes, Start
// waits and tries again, until ctx is done. Errors: *StartError if the command cannot be started at
// all, or an error of the system.
func Start(ctx context.Context, s *Spec) (*Process, error) {
	st, err := open(s)
	if err != nil {
		return nil, fmt.Errorf("open pipes: %w", err)
	}
	c, err := startChild(ctx, s, st.childEnds)
	if err != nil {
		st.close()
		return nil, err
	}
	p := &Process{child: c, streams: st, timeout: s.Timeout, grace: s.Grace}
	st.writeInput(s.Stdin, !s.KeepInput)
	st.startReading()
	if s.Timeout > 0 {
		p.mu.Lock()
		p.startTimeout(s.Timeout - time.Since(c.began))
		p.mu.Unlock()
	}
	return p, nil
}

// Wait returns the end of the command, once all its processes have ended and its output is written.
// The caller of Start must call Wait, or the command stays a zombie. Errors: *LeftoverError, or an
// error of the system or the writers.
func (p *Process) Wait() (Exit, error) {
	p.wait.Do(p.awaitEnd)
	return p.exit, p.err
}

// Stop sends SIGTERM to the process group, and SIGKILL after the grace. It does not wait.
func (p *Process) Stop() { p.interrupt(stopped, p.grace) }

// StopWithin is Stop with another grace.
func (p *Process) StopWithin(grace time.Duration) { p.interrupt(stopped, grace) }

// StopGently closes the standard input. It sends SIGTERM after the first duration, and SIGKILL
// after the second. Both durations count from the call of StopGently. StopGently itself returns at
// once. A later call of Stop sends SIGTERM at once.
func (p *Process) StopGently(wait, kill time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != none || p.hasEnded() {
		return
	}
	p.cause, p.asked, p.gentle = stopped, time.Now(), true
	p.streams.input.send(nil, true)
	p.setTimer(wait, func() { p.interrupt(stopped, kill-wait) })
}

// Kill sends SIGKILL at once, even in the middle of a grace. It does not wait.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed || p.hasEnded() {
		return
	}
	if p.cause == none {
		p.cause, p.asked = stopped, time.Now()
	}
	p.kill()
}

// Send writes a text to the standard input, if Spec.KeepInput has kept it open. It does not wait.
// It returns false if the input is closed.
func (p *Process) Send(text []byte) bool { return p.streams.input.send(text, false) }

// CloseInput closes the standard input after the texts sent so far. It does not wait.
func (p *Process) CloseInput() { p.streams.input.send(nil, true) }

// Relative is a process that a command has started, directly or through others.
type Relative struct {
	Name   string
	Parent int // process ID of the parent; the parent can be a process outside of the command
}

// Flush returns once the command's output so far was written to Stdout and Stderr. Even during
// Flush, each of them gets only one write at a time.
func (p *Process) Flush() { p.streams.flush() }

// Limit replaces the timeout by d, counted from now; 0 removes it. It returns false if the command
// is ending, or has ended.
func (p *Process) Limit(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != none || p.hasEnded() {
		return false
	}
	p.stopTimer()
	p.timer, p.timeout = nil, d
	if d > 0 {
		p.startTimeout(d)
	}
	return true
}

// startTimeout starts a timer. The timer has no effect once another one has replaced it.
func (p *Process) startTimeout(d time.Duration) {
	var own *Timer
	own = AfterFunc(d, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timer == own {
			p.interruptLocked(timedOut, p.grace)
		}
	})
	p.timer = own
}

func (p *Process) interrupt(why cause, grace time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.interruptLocked(why, grace)
}

// interruptLocked ends the command for a reason. It does nothing if the command has ended, or is
// being ended in another way than by StopGently.
func (p *Process) interruptLocked(why cause, grace time.Duration) {
	if p.cause != none && !p.gentle || p.hasEnded() {
		return
	}
	p.gentle = false
	if p.cause == none {
		p.cause, p.asked = why, time.Now()
	}
	if grace <= 0 {
		p.kill()
		return
	}
	p.child.terminateGroup()
	failpoint.At("term-sent")
	p.setTimer(grace, p.Kill)
}

func (p *Process) kill() {
	p.killed = true
	p.child.killTree()
	p.child.killGroup()
}

// hasEnded reports whether the leader has ended, even if Wait has not noticed that yet.
func (p *Process) hasEnded() bool { return p.ended || p.child.hasEnded() }

func (p *Process) setTimer(d time.Duration, f func()) {
	p.stopTimer()
	p.timer = AfterFunc(d, f)
}

func (p *Process) stopTimer() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// awaitEnd waits for the leader's end, then ends all other processes. It kills the group before it
// reaps the leader, because another group can get the same number once the leader is reaped.
func (p *Process) awaitEnd() {
	p.child.await()
	p.exit = p.recordEnd()
	failpoint.At("agent-ended")
	p.err = errors.Join(p.child.finish(&p.exit), p.child.sweep(), p.streams.drain())
}

// recordEnd notes the end, after which other goroutines send no signals. The Exit that it returns
// lacks the exit status.
func (p *Process) recordEnd() Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.stopTimer()
	return Exit{
		TimedOut: p.cause == timedOut,
		Stopped:  p.cause == stopped,
		Asked:    p.asked,
		Timeout:  p.timeout,
		Duration: time.Since(p.child.began),
	}
}

// child is the command's first process, the leader of its group. On Linux only the method finish
// reaps it, so no other process gets its number while signals are sent.
type child struct {
	pid    int
	began  time.Time
	handle // data by which this system finds the command's other processes
}

func newChild(pid int, h handle) *child {
	return &child{pid: pid, began: time.Now(), handle: h}
}

// finish kills the rest of the group, even after a normal end, and reaps the leader.
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
