package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalError is the cause of a stop that a signal asked for.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "stopped by signal: " + e.signal.String() }

func (e *signalError) code() int {
	switch e.signal {
	case os.Interrupt:
		return exitInterrupted
	case syscall.SIGQUIT:
		return exitQuit
	default:
		return exitTerminated
	}
}

// oneRequest is the time within which several signals are one request: timeout(1) signals the group as well as the process,
// and some send another kind soon after.
const oneRequest = 300 * time.Millisecond

// contexts gives the two contexts of a run: the first signal ends stop, the second ends kill too, SIGQUIT and the guardian's
// death end both. said is told of each signal. release ends the goroutine that listens.
func (t *terminal) contexts(said func(first bool)) (stop, kill context.Context, release func()) {
	stop, cancelStop := context.WithCancelCause(context.Background())
	kill, cancelKill := context.WithCancelCause(context.Background())
	signals, lost, stopSignals := t.signals()
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		var asked time.Time
		for {
			select {
			case s := <-signals:
				first, now := stop.Err() == nil, s == syscall.SIGQUIT
				if !first && !now && time.Since(asked) < oneRequest {
					continue
				}
				asked = time.Now()
				said(first && !now)
				cancelStop(&signalError{s})
				if !first || now {
					cancelKill(&signalError{s})
				}
			case <-lost:
				cancelStop(t.guardianLost())
				cancelKill(t.guardianLost())
				lost = nil
			case <-done:
				return
			}
		}
	}()
	return stop, kill, func() {
		stopSignals()
		close(done)
		<-finished
	}
}

// signals come from the guardian, if there is one: what this process gets itself is then the same signal again.
func (t *terminal) signals() (signals <-chan os.Signal, lost <-chan struct{}, stop func()) {
	if t.guardian != nil {
		return t.guardian.Signals(), t.guardian.Lost(), func() {}
	}
	own := make(chan os.Signal, 8)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // who started it with nohup or in the background wants none
			signal.Notify(own, s)
		}
	}
	return own, nil, func() { signal.Stop(own) }
}

// holdLock has the guardian hold the locks of boards too; nil without one.
func (t *terminal) holdLock() func(*os.File) (func() error, error) {
	if t.guardian == nil {
		return nil
	}
	return t.guardian.Hold
}

// outlivePipes keeps a run alive when the reader of its output goes away (`kanban-run board | head`): the write fails and the
// run goes on. The signal is taken, not ignored, because ignoring it would be inherited by the agents.
func outlivePipes() (release func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}
