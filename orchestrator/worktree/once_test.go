package worktree

import (
	"runtime"
	"slices"
	"sync"
	"testing"
)

// TestChangedAtTheSameTime: calls that wait while git looks are served by one look that begins after
// them, and a look that failed serves only its own call.
func TestChangedAtTheSameTime(t *testing.T) {
	share, looks, known := &Share{}, 0, false
	begun, release := make(chan struct{}, 3), make(chan struct{})
	look := func() ([]string, bool) {
		looks++
		now := known
		begun <- struct{}{}
		<-release
		return []string{"a.go"}, now
	}
	var wg sync.WaitGroup
	answers := make(chan bool, 5)
	for range 5 {
		wg.Go(func() {
			names, ok := share.changed(look)
			if ok && !slices.Equal(names, []string{"a.go"}) {
				t.Errorf("changed() = %q", names)
			}
			answers <- ok
		})
	}
	<-begun
	for share.asked.Load() < 5 {
		runtime.Gosched()
	}
	known = true
	close(release)
	wg.Wait()
	served := 0
	for range 5 {
		if <-answers {
			served++
		}
	}
	if looks != 2 || served != 4 {
		t.Errorf("%d looks served %d calls, want 2 that serve 4", looks, served)
	}
	if _, _ = share.changed(look); looks != 3 {
		t.Errorf("a call after them is served by look %d, want one of its own", looks)
	}
}
