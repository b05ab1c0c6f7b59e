package proc

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestFrozen: a look at the clock that comes much too late shows that nothing could run in between. A pause that a
// person has made is counted for itself, and a look that is only somewhat late for nothing.
func TestFrozen(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	}
	var p pauses
	check := func(what string, now, paused, frozen float64) {
		t.Helper()
		if gotPaused, gotFrozen := p.sums(at(now)); gotPaused.Seconds() != paused || gotFrozen.Seconds() != frozen {
			t.Errorf("%s: paused %s, frozen %s, want %g and %g s", what, gotPaused, gotFrozen, paused, frozen)
		}
	}
	check("before the first look", 0, 0, 0)
	p.look(at(1000))
	check("behind the first look", 1000, 0, 0)
	p.look(at(1009.9))
	check("a late look", 1009.9, 0, 0)
	check("asked before the next look", 1070, 0, 59.1)
	p.look(at(1070))
	p.look(at(1071))
	check("it is counted once", 1071, 0, 59.1)
	p.begin(at(1072))
	check("in a pause", 1172, 100, 59.1)
	p.end(at(1372))
	p.look(at(1373))
	check("behind a pause", 1373, 300, 59.1)
	p.look(at(1394))
	check("another one", 1394, 300, 79.1)
}

// TestTimerLeavesTimeOut: a timer whose time is over in a moment when time was lost goes on for that time, before the
// function is called.
func TestTimerLeavesTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var missed atomic.Int64
		fired := make(chan time.Duration, 1)
		timer := &Timer{lost: func() time.Duration { return time.Duration(missed.Load()) }}
		timer.start(time.Minute, func() { fired <- time.Since(began) })
		defer timer.Stop()
		time.AfterFunc(30*time.Second, func() { missed.Store(int64(45 * time.Second)) })
		time.AfterFunc(90*time.Second, func() { missed.Add(int64(5 * time.Second)) })
		if took := <-fired; took != 110*time.Second {
			t.Errorf("it fired after %s, want 1m50s: a minute and 50s that were lost", took)
		}
	})
}
