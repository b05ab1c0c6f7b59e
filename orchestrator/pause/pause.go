// Package pause waits for a time of the wall clock.
package pause

import (
	"context"
	"time"
)

// Until waits for a time of the wall clock, which it reads with the function now. The wait is over
// when the wall clock shows that time, or when the process has run for as long as the wait was at
// its start. Timers stand still while the machine sleeps, so the clock is read again and again. A clock
// that is set back does not make the wait longer. Until calls the function onTick after one second,
// and then every ten seconds. Errors: the cause of the context stop, and those of the function
// onTick.
func Until(stop context.Context, now func() time.Time, until time.Time, onTick func() error) error {
	began, whole := time.Now(), left(now, until)
	for tick := time.Second; ; tick = 10 * time.Second {
		rest := min(left(now, until), whole-time.Since(began))
		if rest <= 0 {
			return nil
		}
		select {
		case <-stop.Done():
			return context.Cause(stop)
		case <-time.After(min(rest, tick)):
		}
		if err := onTick(); err != nil {
			return err
		}
	}
}

// left returns the time until a time of the wall clock. Round(0) takes the reading of the monotonic
// clock out, which stands still while the machine sleeps.
func left(now func() time.Time, until time.Time) time.Duration {
	return until.Round(0).Sub(now().Round(0))
}

// WithDeadline returns a context that is done with the context stop, or when a wait with the
// function [Until] is over. If until is zero, only stop ends it. The function cancel waits for the
// context's goroutine.
func WithDeadline(stop context.Context, now func() time.Time, until time.Time) (context.Context, context.CancelFunc) {
	if until.IsZero() {
		return context.WithCancel(stop)
	}
	ctx, end := context.WithCancelCause(stop)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if Until(ctx, now, until, func() error { return nil }) == nil {
			end(context.DeadlineExceeded)
		}
	}()
	return ctx, func() {
		end(context.Canceled)
		<-ended
	}
}
