// Package pause waits for a time of the wall clock.
package pause

import (
	"context"
	"time"
)

// Until waits for a time of the wall clock. It looks at the clock again and again, because timers
// stand still while the machine sleeps. It reads the clock with the function now. It calls the
// function onTick after one second, and then every ten seconds. Errors: the cause of the context
// stop, and those of the function onTick.
func Until(stop context.Context, now func() time.Time, until time.Time, onTick func() error) error {
	for pause := time.Second; ; pause = 10 * time.Second {
		left := until.Sub(now().Round(0))
		if left <= 0 {
			return nil
		}
		select {
		case <-stop.Done():
			return context.Cause(stop)
		case <-time.After(min(left, pause)):
		}
		if err := onTick(); err != nil {
			return err
		}
	}
}
