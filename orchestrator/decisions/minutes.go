package decisions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/run"
)

// Minutes collects what DECISIONS.md is to say of one run: seed 002, "Bounded DECISIONS
// Contribution Rule". A nil *Minutes is that of a run that writes none.
type Minutes struct {
	run     *run.Run
	path    string
	mu      sync.Mutex
	pending []Entry
	told    bool // that entries cannot be written
}

// NewMinutes returns the minutes of a run; nil: it writes none.
func NewMinutes(r *run.Run) *Minutes {
	path := pathOf(r)
	if path == "" {
		return nil
	}
	r.Workspace.Ignored = append(r.Workspace.Ignored, path, durable.RealPath(path))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		r.Observer.Notice(r.Board, "decisions: "+path+" is not there, so nothing is noted in it")
	}
	return &Minutes{run: r, path: path}
}

// pathOf is the file for a run's decisions; "": there is none, or the run is a
// dry run, which writes none.
func pathOf(r *run.Run) string {
	switch {
	case r.DryRun:
		return ""
	case r.Decisions == "":
		path := filepath.Join(filepath.Dir(r.Workspace.Path), "DECISIONS.md")
		if info, err := os.Lstat(path); err != nil || info.IsDir() {
			return ""
		}
		return path
	case filepath.IsAbs(r.Decisions):
		return r.Decisions
	default:
		return filepath.Join(r.Dir(), r.Decisions)
	}
}

// Listen has the minutes learn of each event that is committed, before o does.
func (m *Minutes) Listen(o ledger.Observer) ledger.Observer {
	if m == nil {
		return o
	}
	return ledger.Tap(o, m.note)
}

func (m *Minutes) note(board string, e event.Entry) {
	if entry, ok := EntryOf(board, e); ok {
		m.mu.Lock()
		m.pending = append(m.pending, entry)
		m.mu.Unlock()
	}
}

// Restore collects what the last run may not have noted. An entry that stands
// there is not written again.
func (m *Minutes) Restore(e event.Entry) {
	if m == nil {
		return
	}
	if _, begins := e.Event.(event.HandoffOffered); begins {
		m.pending = nil
	}
	if _, ends := e.Event.(event.RunFinished); ends { // all of it was noted
		m.pending = nil
		return
	}
	m.note(m.run.Board, e)
}

// Save appends what is to be noted. A supervisor, which may change nothing,
// is not at work meanwhile.
func (m *Minutes) Save() error {
	if m == nil {
		return nil
	}
	if step := m.run.State().Step; step != nil && step.Call.IsSupervision() {
		return nil
	}
	err := m.append()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrMarkerMissing):
		return m.run.Ledger.Record(event.MarkerMissing{Board: m.run.Board, Text: err.Error()})
	case errors.Is(err, ErrScope):
		return m.run.Ledger.Record(event.DecisionsViolated{Board: m.run.Board, Text: err.Error()})
	default:
		m.tellUnwritten(err)
		return nil
	}
}

// Close notes how the run ended. Nothing is journaled behind that.
func (m *Minutes) Close() {
	if m == nil {
		return
	}
	if err := m.append(); err != nil {
		m.tellUnwritten(err)
	}
}

// append appends what is pending to the file. Its error is the first of this run.
func (m *Minutes) append() (first error) {
	m.mu.Lock()
	pending := m.pending
	m.pending = nil
	m.mu.Unlock()
	for _, entry := range pending {
		if err := Append(m.path, entry.Section, entry.Text); err != nil && !m.told {
			m.told, first = true, err
		}
	}
	return first
}

func (m *Minutes) tellUnwritten(err error) {
	m.run.Observer.Notice(m.run.Board, "what happened is not noted in "+m.path+": "+err.Error())
}
