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
	show func(health.Live) // the same

	mu    sync.Mutex
	trace *health.Trace
	found health.Looked
	shown time.Time // when it was shown last what the agent does; its start before that
}

// showEvery is how often it is shown at most what an agent does.
const showEvery = time.Second

func (w *watch) begin(at time.Time, c Call) {
	w.trace, w.emit, w.show, w.shown, w.found = health.NewTrace(at), c.Emit, c.Show, at, health.NotLooked()
}

func (w *watch) note(e agent.Event) {
	e.Time = time.Now()
	w.mu.Lock()
	w.trace.Note(e)
	due := w.show != nil && e.Time.Sub(w.shown) >= showEvery
	var live health.Live
	if due {
		w.shown, live = e.Time, w.trace.Live(e.Time, w.found)
	}
	w.mu.Unlock()
	if due {
		w.show(live)
	}
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
