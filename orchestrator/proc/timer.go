package proc

import (
	"sync"
	"time"
)

// pauses measures the time for which this process was stopped together with its commands.
type pauses struct {
	mu    sync.Mutex
	total time.Duration
	since time.Time // start of the current pause; zero if there is none
}

var paused pauses

func (p *pauses) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = time.Now()
}

func (p *pauses) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += time.Since(p.since)
	p.since = time.Time{}
}

// Paused returns the total time so far for which this process was stopped together with its
// commands.
func Paused() time.Duration {
	paused.mu.Lock()
	defer paused.mu.Unlock()
	if paused.since.IsZero() {
		return paused.total
	}
	return paused.total + time.Since(paused.since)
}

// Timer calls a function once, after a time that does not include pauses.
type Timer struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// AfterFunc is like time.AfterFunc, but a pause prolongs d.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{}
	t.start(d, f)
	return t
}

func (t *Timer) start(d time.Duration, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	before := Paused()
	t.timer = time.AfterFunc(d, func() {
		if missed := Paused() - before; missed > 0 {
			t.start(missed, f)
			return
		}
		f()
	})
}

// Stop prevents the call of the function, unless it was called already.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	t.timer.Stop()
}
