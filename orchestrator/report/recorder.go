package report

import (
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
)

// Watcher is the observer to which a Recorder passes everything on.
type Watcher interface {
	Entry(board string, e event.Entry)
	Agent(board string, s agent.Sign)
	Notice(board, text string)
}

// Recorder is an observer that folds the events of each board into a digest, and passes everything
// on to the Watcher. It is safe for concurrent use.
type Recorder struct {
	Watcher
	keep   int
	mu     sync.Mutex
	boards map[string]*digest.Digest
}

// NewRecorder returns a recorder that keeps the last keep steps of each board.
func NewRecorder(w Watcher, keep int) *Recorder {
	return &Recorder{Watcher: w, keep: keep, boards: map[string]*digest.Digest{}}
}

// Entry records a journaled event.
func (r *Recorder) Entry(board string, e event.Entry) {
	r.mu.Lock()
	d := r.boards[board]
	if d == nil {
		d = &digest.Digest{Keep: r.keep, Steps: []digest.Step{}}
		r.boards[board] = d
	}
	d.Add(e)
	r.mu.Unlock()
	r.Watcher.Entry(board, e)
}

// Digest returns the recorded digest of a board, completed by its ending.
func (r *Recorder) Digest(e Ending) digest.Digest {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := digest.Digest{Steps: []digest.Step{}}
	if known := r.boards[e.Board]; known != nil {
		d = *known
	}
	d.Board, d.Outcome, d.Text, d.Advice = e.Board, e.Outcome, e.Text, e.Hint
	return d
}
