package attempt

import (
	"errors"
	"io"
	"sync/atomic"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// errOutputLimit ends an attempt whose agent prints too much.
var errOutputLimit = errors.New("the agent printed too much")

// meter bounds the output of an attempt on both streams together. It drops the excess and stops the
// agent.
type meter struct {
	max    int64 // in bytes; 0: no limit
	used   atomic.Int64
	exceed func(error)
}

// writer returns a writer that forwards output to w, up to the bound.
func (m *meter) writer(w io.Writer) io.Writer {
	if m.max <= 0 {
		return w
	}
	return &metered{m, w}
}

// exceeded returns a failure if the attempt printed too much, and nil otherwise.
func (m *meter) exceeded() *contract.Failure {
	if m.max <= 0 || m.used.Load() <= m.max {
		return nil
	}
	return contract.Failed("it printed more than %s and was stopped", agent.Size(m.max))
}

type metered struct {
	meter *meter
	to    io.Writer
}

func (w *metered) Write(p []byte) (int, error) {
	over := w.meter.used.Add(int64(len(p))) - w.meter.max
	if over <= 0 {
		return w.to.Write(p)
	}
	w.meter.exceed(errOutputLimit)
	if within := int64(len(p)) - over; within > 0 {
		if _, err := w.to.Write(p[:within]); err != nil {
			return 0, err
		}
	}
	return len(p), nil // the command must not see a broken pipe
}
