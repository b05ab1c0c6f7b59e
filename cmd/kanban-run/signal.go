package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kanban-run/orchestrator/quit"
)

// signalError is the cause of a stop that a signal requested.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "stopped by signal: " + e.signal.String() }

// SignalExit returns the exit code of a run that the signal ended.
func (e *signalError) SignalExit() int {
	switch e.signal {
	case os.Interrupt:
		return exitInterrupted
	case syscall.SIGQUIT:
		return exitQuit
	default:
		return exitTerminated
	}
}

// oneRequestWithin is the time within which several signals count as one request. timeout(1)
// signals both the process and its process group, and some programs send a second signal of another
// kind soon after the first.
const oneRequestWithin = 300 * time.Millisecond

// contexts returns the two contexts of a run. The first signal ends the context stop, the second
// also the context kill. In a CI job the first signal also ends the context kill, once the time is
// over that the job has. SIGQUIT and the guardian's death end both at once. onSignal is called for
// each signal that is not part of an earlier request (see oneRequestWithin). The function release
// ends the listening goroutine.
func (t *terminal) contexts(onSignal func(first bool)) (stop, kill context.Context, release func()) {
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
				if !first && !now && time.Since(asked) < oneRequestWithin {
					continue
				}
				asked = time.Now()
				t.hurry()
				onSignal(first && !now)
				cancelStop(&signalError{s})
				if grace := t.job.maxGrace(); grace > 0 && first { // git shares the time of the agents
					time.AfterFunc(grace, func() { cancelKill(context.Cause(stop)) })
				}
				if !first || now {
					cancelKill(context.Cause(stop)) // a git that is killed fails with this error, too
				}
			case <-lost:
				t.hurry()
				cancelStop(t.guardianLost())
				cancelKill(context.Cause(stop))
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

// free lets the program go on without a reader of its output, so that limits of time hold. A program may
// read the standard output, and gets no line of another form.
func (t *terminal) free() {
	t.stdout.Free(false)
	t.stderr.Free(true)
}

// hurry gives up output that no program reads, because this process is about to end.
func (t *terminal) hurry() {
	t.stdout.Hurry()
	t.stderr.Hurry()
}

// signals returns the signals that the guardian forwards. Without a guardian it returns the
// process's own signals. With a guardian it leaves these out, because a terminal signals the
// guardian and this process, and each signal would count twice.
func (t *terminal) signals() (signals <-chan os.Signal, lost <-chan struct{}, stop func()) {
	if t.guardian != nil {
		return t.guardian.Signals(), t.guardian.Lost(), func() {}
	}
	own := make(chan os.Signal, 8)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // nohup and background jobs ignore signals on purpose
			signal.Notify(own, s)
		}
	}
	quit.Catch()
	return own, nil, func() { signal.Stop(own) }
}

// holdLock returns the function that makes the guardian hold a board's lock too, or nil if there is
// no guardian.
func (t *terminal) holdLock() func(*os.File) (func() error, error) {
	if t.guardian == nil {
		return nil
	}
	return t.guardian.Hold
}

// surviveClosedPipes keeps this process alive until it exits, also if the reader of its output
// closes the pipe, as head does in `kanban-run board 2>&1 | head`. The write fails, the run goes on,
// and its exit code is the board's. SIGPIPE is caught and not ignored, because agents would inherit
// an ignored signal.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
