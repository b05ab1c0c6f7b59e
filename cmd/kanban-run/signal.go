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
	if e.signal == os.Interrupt {
		return exitInterrupted
	}
	return exitTerminated
}

// oneRequest is the time within which several signals are one request: timeout(1) and a terminal signal the group as well as the
// process, and some send another kind soon after.
const oneRequest = 300 * time.Millisecond

// contexts gives the two contexts of a run: the first signal ends stop, the second ends kill too. said is told of each
// signal. release ends the goroutine that listens.
func contexts(said func(first bool)) (stop, kill context.Context, release func()) {
	stop, cancelStop := context.WithCancelCause(context.Background())
	kill, cancelKill := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		var asked time.Time
		for {
			select {
			case s := <-signals:
				first := stop.Err() == nil
				if first {
					asked = time.Now()
				} else if time.Since(asked) < oneRequest {
					continue
				}
				said(first)
				cancelStop(&signalError{s})
				if !first {
					cancelKill(&signalError{s})
				}
			case <-done:
				return
			}
		}
	}()
	return stop, kill, func() {
		signal.Stop(signals)
		close(done)
		<-finished
	}
}

// outlivePipes keeps a run alive when the reader of its output goes away (`kanban-run board | head`): the write fails and the
// run goes on. The signal is taken, not ignored, because ignoring it would be inherited by the agents.
func outlivePipes() (release func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}
