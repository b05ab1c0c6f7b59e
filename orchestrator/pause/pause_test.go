package pause_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/pause"
)

// TestUntil: each is called after a second, and then every ten seconds; the stop ends the wait at once.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		each := func() error { calls++; return nil }
		if err := pause.Until(t.Context(), time.Now, began.Add(35*time.Second), each); err != nil || time.Since(began) != 35*time.Second || calls != 5 {
			t.Errorf("Until = %v after %v and %d calls, want 35s and 5", err, time.Since(began), calls)
		}
		if err := pause.Until(t.Context(), time.Now, began, each); err != nil || calls != 5 {
			t.Errorf("Until = %v, %d calls, want no wait for a time that is over", err, calls)
		}
		stopped, broken := errors.New("stopped"), errors.New("broken")
		stop, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(stopped) })
		began = time.Now()
		if err := pause.Until(stop, time.Now, began.Add(time.Hour), each); !errors.Is(err, stopped) || time.Since(began) != 5*time.Second {
			t.Errorf("Until = %v after %v, want the cause of the stop after 5s", err, time.Since(began))
		}
		if err := pause.Until(t.Context(), time.Now, time.Now().Add(time.Hour), func() error { return broken }); !errors.Is(err, broken) {
			t.Errorf("Until = %v, want the error of each", err)
		}
	})
}

// TestUntilIsSleptThrough: timers stand still while the machine sleeps, and the wait is over soon after it wakes.
func TestUntilIsSleptThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var slept atomic.Int64
		wall := func() time.Time { return time.Now().Round(0).Add(time.Duration(slept.Load())) }
		time.AfterFunc(time.Minute, func() { slept.Store(int64(8 * time.Hour)) })
		err := pause.Until(t.Context(), wall, began.Add(5*time.Hour), func() error { return nil })
		if awake := time.Since(began); err != nil || awake > time.Minute+10*time.Second {
			t.Errorf("Until = %v after %v awake, want 1m10s at most", err, awake)
		}
	})
}

// TestClockIsSetBack: the wait is over when its time has passed, whatever the wall clock shows.
func TestClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var back atomic.Int64
		wall := func() time.Time { return time.Now().Round(0).Add(-time.Duration(back.Load())) }
		time.AfterFunc(time.Minute, func() { back.Store(int64(8 * time.Hour)) })
		err := pause.Until(t.Context(), wall, began.Add(5*time.Minute), func() error { return nil })
		if took := time.Since(began); err != nil || took != 5*time.Minute {
			t.Errorf("Until = %v after %v, want 5m", err, took)
		}
	})
}

// TestWithDeadline: the context is done at a time of the wall clock, also after a sleep of the machine, or with
// the context that it is made from.
func TestWithDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var slept atomic.Int64
		wall := func() time.Time { return time.Now().Round(0).Add(time.Duration(slept.Load())) }
		time.AfterFunc(time.Minute, func() { slept.Store(int64(8 * time.Hour)) })
		for name, tt := range map[string]struct {
			until time.Time
			stop  time.Duration
			want  time.Duration
		}{
			"deadline": {began.Add(5 * time.Hour), 10 * time.Hour, time.Minute + 10*time.Second},
			"stop":     {began.Add(100 * time.Hour), time.Hour, time.Hour},
			"none":     {time.Time{}, time.Hour, time.Hour},
		} {
			began, stop := time.Now(), context.Background()
			stop, end := context.WithTimeout(stop, tt.stop)
			ctx, cancel := pause.WithDeadline(stop, wall, tt.until)
			<-ctx.Done()
			if took := time.Since(began); took > tt.want {
				t.Errorf("%s: done after %v, want %v", name, took, tt.want)
			}
			cancel()
			end()
		}
	})
}
