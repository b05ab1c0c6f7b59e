package proc

import (
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestRunnerLooksAtTheClock: a runner looks at the clock every second, so that a gap shows that nothing could run.
func TestRunnerLooksAtTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func() { paused = pauses{} }() // other tests have another clock
		defer signal.Reset(syscall.SIGTSTP)
		l := &Link{lost: make(chan struct{})}
		began, ended := time.Now(), make(chan struct{})
		go func() {
			defer close(ended)
			l.watchTerminal()
		}()
		time.Sleep(3*lookTime + lookTime/2)
		synctest.Wait()
		if paused.looked.Sub(began) != 3*lookTime || Frozen() != 0 {
			t.Errorf("the last look was at %s, and %s were frozen", paused.looked.Sub(began), Frozen())
		}
		close(l.lost)
		<-ended
		time.Sleep(time.Minute)
		if got := Frozen(); got != time.Minute+lookTime/2-lookTime {
			t.Errorf("without a look for a minute %s were frozen", got)
		}
	})
}
