package pool

import (
	"slices"
	"testing"
	"testing/synctest"
)

// TestSeats: a board whose wait is over takes the next free seat before any board that has not begun.
func TestSeats(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		s, order := newSeats(1), []string{}
		s.Take()
		began := func(name string, wait func()) {
			go func() {
				wait()
				order = append(order, name)
				s.Leave()
			}()
			synctest.Wait()
		}
		began("the second board", s.Take)
		began("the third board", s.Take)
		began("the first that comes back", s.ComeBack)
		began("the second that comes back", s.ComeBack)
		s.Leave()
		synctest.Wait()
		want := []string{"the first that comes back", "the second that comes back", "the second board", "the third board"}
		if !slices.Equal(order, want) {
			t.Errorf("seats went to %q, want %q", order, want)
		}
		if s.Take(); s.free != 0 {
			t.Errorf("%d seats are free, want none", s.free)
		}
	})
}
