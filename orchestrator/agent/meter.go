package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// errTooMuch ends an attempt whose agent prints without end.
var errTooMuch = errors.New("the agent printed too much")

// meter bounds what an attempt may print, both streams together: what is over the bound is dropped, and the agent is stopped.
type meter struct {
	left atomic.Int64
	max  int64 // in bytes; 0 is no bound
	stop context.CancelCauseFunc
}

func newMeter(max int64, stop context.CancelCauseFunc) *meter {
	m := &meter{max: max, stop: stop}
	m.left.Store(max)
	return m
}

// writer passes on to w what is within the bound.
func (m *meter) writer(w io.Writer) io.Writer {
	if m.max <= 0 {
		return w
	}
	return &metered{m, w}
}

// exceeded says why the attempt failed, nil when it printed within the bound.
func (m *meter) exceeded() *Failure {
	if m.max <= 0 || m.left.Load() >= 0 {
		return nil
	}
	return failed("it printed more than %s and was stopped", Size(m.max))
}

type metered struct {
	meter *meter
	to    io.Writer
}

func (w *metered) Write(p []byte) (int, error) {
	left := w.meter.left.Add(-int64(len(p)))
	if left >= 0 {
		return w.to.Write(p)
	}
	w.meter.stop(errTooMuch)
	if within := left + int64(len(p)); within > 0 {
		if _, err := w.to.Write(p[:within]); err != nil {
			return 0, err
		}
	}
	return len(p), nil // the command must not see a broken pipe
}

// Size renders a number of bytes: 512 B, 64 MiB, 1 GiB.
func Size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for ; i < len(units)-1 && n >= 1024 && n%1024 == 0; i++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[i])
}
