package report

import (
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/standing"
)

// Watcher is an observer. A Recorder or a Filter forwards entries, signs and notices to it.
type Watcher interface {
	Entry(board string, e event.Entry)
	Agent(board string, s agent.Sign)
	Notice(board, text string)
}

// Recorder is an observer that folds the events of each board into a digest. It also forwards every
// entry, sign and notice to the Watcher. It is safe for concurrent use.
type Recorder struct {
	Watcher
	keep   int
	mu     sync.Mutex
	boards map[string]*digest.Digest
}

// NewRecorder returns a recorder. The parameter keep is the number of last steps that it keeps of
// each board.
func NewRecorder(w Watcher, keep int) *Recorder {
	return &Recorder{Watcher: w, keep: keep, boards: map[string]*digest.Digest{}}
}

// Entry folds a journaled event into the board's digest, and forwards it to the Watcher.
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

// Digest returns the digest of a board, with the outcome, text and hint of its result. The digest
// has no steps if no event was recorded.
func (r *Recorder) Digest(end result.Result) digest.Digest {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := digest.Digest{Steps: []digest.Step{}}
	if known := r.boards[end.Board]; known != nil {
		d = *known
	}
	d.Board, d.Outcome, d.Text, d.Advice = end.Board, end.Outcome, end.Text, end.Hint
	d.Weight = standing.Weigh(end.Outcome, end.Text)
	return d
}
