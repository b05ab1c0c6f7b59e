// Package pause waits for a time of the wall clock.
package pause

import (
	"context"
	"time"
)

// Until waits for a time of the wall clock, also where the machine sleeps in between, while timers stand
// still. now tells the time. It calls each after a second, and then every ten seconds. Errors: the cause of
// stop, or that of each.
func Until(stop context.Context, now func() time.Time, until time.Time, each func() error) error {
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
		if err := each(); err != nil {
			return err
		}
	}
}
