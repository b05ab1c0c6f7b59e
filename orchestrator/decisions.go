package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"kanban-run/orchestrator/decisions"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
)

// minutes has what DECISIONS.md is to say collected of each event that is committed: seed 002, "Bounded DECISIONS Contribution Rule".
type minutes struct {
	ledger.Observer
	path    string
	mu      sync.Mutex
	pending []decisions.Entry
	told    bool // that entries cannot be written
}

// Entry passes an event to both.
func (m *minutes) Entry(board string, e flow.Entry) {
	m.note(board, e)
	m.Observer.Entry(board, e)
}

func (m *minutes) note(board string, e flow.Entry) {
	if entry, ok := decisions.EntryOf(board, e); ok {
		m.mu.Lock()
		m.pending = append(m.pending, entry)
		m.mu.Unlock()
	}
}

// write appends what is pending. Its error is the first of this run.
func (m *minutes) write() (first error) {
	m.mu.Lock()
	pending := m.pending
	m.pending = nil
	m.mu.Unlock()
	for _, entry := range pending {
		if err := decisions.Append(m.path, entry.Section, entry.Text); err != nil && !m.told {
			m.told, first = true, err
		}
	}
	return first
}

// decisionsPath is the file for a run's decisions; "": there is none, or the run is a dry run, which writes none.
func (r *run) decisionsPath() string {
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

// writeDecisions appends what is to be noted. A supervisor, which may change nothing, is not at work meanwhile.
func (r *run) writeDecisions() error {
	m := r.minutes
	if step := r.ledger.State().Step; m == nil || step != nil && step.Call.IsSupervision() {
		return nil
	}
	err := m.write()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, decisions.ErrMarkerMissing):
		return r.ledger.Record(flow.MarkerMissing{Board: r.Board, Text: err.Error()})
	case errors.Is(err, decisions.ErrScope):
		return r.ledger.Record(flow.DecisionsViolated{Board: r.Board, Text: err.Error()})
	default:
		r.tellUnwritten(err)
		return nil
	}
}

func (r *run) tellUnwritten(err error) {
	r.Observer.Notice(r.Board, "what happened is not noted in "+r.minutes.path+": "+err.Error())
}

// restoreMinutes collects what the last run may not have noted. An entry that stands there is not written again.
func (r *run) restoreMinutes(e flow.Entry) {
	if r.minutes == nil {
		return
	}
	if _, begins := e.Event.(flow.HandoffOffered); begins {
		r.minutes.pending = nil
	}
	if _, ends := e.Event.(flow.RunFinished); ends { // all of it was noted
		r.minutes.pending = nil
		return
	}
	r.minutes.note(r.Board, e)
}

// noteEnd notes how the run ended. Nothing is journaled behind that.
func (r *run) noteEnd() {
	if r.minutes == nil {
		return
	}
	if err := r.minutes.write(); err != nil {
		r.tellUnwritten(err)
	}
}
