package attempt

import (
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/health"
)

// watch traces the signs of the agent, and forwards its events. Its method Write notes that the
// agent prints something. A watch is safe for concurrent use.
type watch struct {
	emit func(agent.Event) // may be nil
	show func(health.Live) // may be nil

	mu    sync.Mutex
	trace *health.Trace
	found health.Looked
	shown time.Time   // time of the last call of show; before the first call, time of the start
	later *time.Timer // timer of the next call of show; nil: no call is due
	over  bool        // the function show is no longer called

	failed bool // the final event tells of a failure
}

// showEvery is the least time between two calls of show.
const showEvery = time.Second

func (w *watch) begin(at time.Time, c Spec) {
	w.trace, w.emit, w.show, w.shown, w.found = health.NewTrace(at), c.Emit, c.Show, at, health.NotLooked()
}

func (w *watch) note(e agent.Event) {
	e.Time = time.Now()
	w.mu.Lock()
	w.trace.Note(e)
	if e.Kind == agent.Result {
		w.failed = e.Failed
	}
	if w.show != nil && w.later == nil && !w.over {
		w.later = time.AfterFunc(max(0, showEvery-e.Time.Sub(w.shown)), w.showNow)
	}
	w.mu.Unlock()
	if w.emit != nil {
		w.emit(e)
	}
}

// showNow is called by the timer w.later. It calls the function show, unless the watch has ended.
func (w *watch) showNow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.later = nil; w.over {
		return
	}
	w.shown = time.Now()
	w.show(w.trace.Live(w.shown, w.found))
}

// end waits for a call of the function show that is under way. Afterwards this function is not
// called again.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over = true; w.later != nil {
		w.later.Stop()
	}
}

func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace.Print(time.Now())
	return len(p), nil
}

// isFinished reports whether the agent has sent its final event.
func (w *watch) isFinished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.trace.Finished.IsZero()
}

// endedItself reports whether the agent has sent its final event by itself. A final event with a
// failure counts only if it came before the agent was asked to end. A later event with a failure
// only answers our signal. The parameter "within" is the time from the agent's start until the
// agent was asked to end.
func (w *watch) endedItself(within time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.trace.Finished.IsZero() && (!w.failed || w.trace.Finished.Before(w.trace.Started.Add(within)))
}

// worked reports whether the agent's model has done something.
func (w *watch) worked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trace.Worked
}

// openAt names the tools for which the agent was waiting at an earlier time. The tools that are
// open now do not show this, because an agent that is asked to end ends its tools first.
func (w *watch) openAt(at time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var open []string
	for _, c := range w.trace.OpenAt(at) {
		open = append(open, strings.TrimSpace(c.Tool+" "+agent.OneLine(c.Text)))
	}
	return strings.Join(open, ", ")
}
