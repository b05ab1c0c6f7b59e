package attempt

import (
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/health"
)

// watch notes the signs of the agent, and passes its events on. Its Write notes that something was
// printed. It is safe for concurrent use.
type watch struct {
	emit func(agent.Event) // may be nil

	mu    sync.Mutex
	trace *health.Trace
}

func (w *watch) begin(at time.Time, emit func(agent.Event)) {
	w.trace, w.emit = health.NewTrace(at), emit
}

func (w *watch) note(e agent.Event) {
	e.Time = time.Now()
	w.mu.Lock()
	w.trace.Note(e)
	w.mu.Unlock()
	if w.emit != nil {
		w.emit(e)
	}
}

func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace.Print(time.Now())
	return len(p), nil
}

// isFinished says whether the agent has sent its final event.
func (w *watch) isFinished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.trace.Finished.IsZero()
}

// openAt says what the agent was waiting for at a time; an agent that is asked to end ends its
// tools first.
func (w *watch) openAt(at time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var open []string
	for _, c := range w.trace.OpenAt(at) {
		open = append(open, strings.TrimSpace(c.Tool+" "+agent.OneLine(c.Text)))
	}
	return strings.Join(open, ", ")
}
