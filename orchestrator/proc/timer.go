package proc

import (
	"sync"
	"time"
)

// pauses measures the times in which the commands could not work: those for which a person has
// stopped this process together with them, and those in which nothing could run, because the
// machine, the container or all processes were stopped.
type pauses struct {
	mu     sync.Mutex
	total  time.Duration // time of the pauses that have ended
	since  time.Time     // start of the current pause; zero if there is none
	looked time.Time     // last look at the clock; zero before the first
	frozen time.Duration
}

var paused pauses

const (
	// lookTime is the time between two looks at the clock.
	lookTime = time.Second
	// frozenTime is the time without a look from which on it is sure that nothing could run. A machine
	// with too much to do delays a look for less.
	frozenTime = 10 * time.Second
)

// begin notes the start of a pause.
func (p *pauses) begin(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(now)
	p.since = now
}

// end notes the end of a pause.
func (p *pauses) end(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += now.Sub(p.since)
	p.since, p.looked = time.Time{}, now
}

// look notes that this process runs. It has to be called every lookTime.
func (p *pauses) look(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(now)
	p.looked = now
}

// note adds the time since the last look if it is far too long. Any question for the sums notes the
// time first, because a timer whose time is over meanwhile can be earlier than the next look.
func (p *pauses) note(now time.Time) {
	if p.looked.IsZero() || !p.since.IsZero() {
		return
	}
	missed := now.Sub(p.looked)
	if missed < frozenTime {
		return
	}
	p.frozen += missed - lookTime
	p.looked = now
}

// sums returns the time of all pauses, and the time in which nothing could run.
func (p *pauses) sums(now time.Time) (paused, frozen time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(now)
	if p.since.IsZero() {
		return p.total, p.frozen
	}
	return p.total + now.Sub(p.since), p.frozen
}

// Paused returns the total time so far for which a person has stopped this process together with
// its commands.
func Paused() time.Duration {
	total, _ := paused.sums(time.Now())
	return total
}

// Frozen returns the total time so far in which neither this process nor its commands could run. It
// is known to a second. It is 0 in a process without a [Link].
func Frozen() time.Duration {
	_, frozen := paused.sums(time.Now())
	return frozen
}

// lost returns the total time so far in which commands could not work.
func lost() time.Duration {
	total, frozen := paused.sums(time.Now())
	return total + frozen
}

// Timer calls a function once, after a time that does not include pauses.
type Timer struct {
	lost func() time.Duration // sum of the times that are left out

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// AfterFunc is like time.AfterFunc, but d is time in which commands can work.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{lost: lost}
	t.start(d, f)
	return t
}

// AfterTime is like time.AfterFunc, but a pause that a person makes prolongs d.
func AfterTime(d time.Duration, f func()) *Timer {
	t := &Timer{lost: Paused}
	t.start(d, f)
	return t
}

func (t *Timer) start(d time.Duration, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	before := t.lost()
	t.timer = time.AfterFunc(d, func() {
		if missed := t.lost() - before; missed > 0 {
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
