package inspect

import (
	"encoding/json"
	"errors"
	"path/filepath"

	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/rundir"
)

// Board is the present state of a board, from its file and its journal.
type Board struct {
	projection.Board
	Fold    *projection.Fold
	History flow.History
	Owned   bool // a run is at work
	Dir     rundir.Dir
}

// Looker says what a look at boards takes in. Its zero value takes in all steps, and does not ask what
// the next run would do.
type Looker struct {
	Keep projection.Keep

	Workdir  string // folder that -C names
	StartDir string // folder in which the program was started
	// Lookup returns the function that checks whether a role is known in a work directory; nil: what
	// the next run would do is not asked.
	Lookup func(workdir string) (func(role string) error, error)
}

// Look reads a board. A board that cannot be read has no tasks. Errors: *ledger.NoRunError and
// *ledger.UnreadableError. With these errors it also returns a Board, which has only the part of the
// journal before the fault. A journal that only a later version may run is no error: the Board has
// what this version knows of it, and is that of a board that cannot be run.
func (l Looker) Look(path string) (Board, error) { return l.look(path, l.Reader(path).read, nil) }

// look reads a board. The function read returns its history.
func (l Looker) look(path string, read func() (*projection.Fold, flow.History, error), r *round) (Board, error) {
	fold, h, err := read()
	b := Board{History: h, Fold: fold}
	var located, asked error
	if b.Dir, located = Locate(path); located == nil {
		b.Owned, asked = b.Dir.IsOwned()
	}
	source, _, unreadable := ReadBoard(path, true, func(string) {})
	if b.Dir.Path != "" && filepath.Base(path) == filepath.Base(b.Dir.Journal()) {
		source, unreadable = nil, nil // path names a journal, not a board
	}
	queued := b.Owned && b.Dir.HeldSince().After(fold.Last)
	facts, contradicts := ledger.FactsOf(b.Dir, path, source, unreadable, &b.History, b.Owned)
	facts.Queued = queued
	if located == nil {
		l.foresee(path, &facts, &b, r)
		facts.Live = liveOf(b.Dir, b.History.State.Step, b.Owned)
		facts.Archive = r.archiveOf(b.Dir)
	}
	b.Board = fold.Board(path, &b.History, facts)
	if errors.As(err, new(*ledger.NoRunError)) && b.State != projection.NeverRun {
		err = nil // the board itself shows how it ended
	}
	if err = errors.Join(err, located, asked, contradicts); err != nil && !errors.As(err, new(*ledger.NoRunError)) {
		b.SetUnreadable(err)
	} else if refused := ledger.RequireForm(b.Dir, h); refused != nil && !b.Owned {
		b.SetInvalid(refused)
	}
	return b, err
}

// foresee sets what a run that would start now would do, or why it would refuse.
func (l Looker) foresee(path string, f *projection.Facts, b *Board, r *round) {
	if l.Lookup == nil || b.Owned {
		return
	}
	known := func(workdir string) (func(string) error, error) { return r.lookup(workdir, l.Lookup) }
	next, refused := Foresee(path, l.Workdir, l.StartDir, known, b.History)
	f.Next = projection.Foretell(next, &b.History)
	if refused != nil {
		f.Next, f.Refused, f.Fix = "", firstLine(refused), failure.HintOf(refused)
	}
}

// liveOf returns the activity of the agent at work, or nil if no agent is at work or its activity is
// unknown.
func liveOf(dir rundir.Dir, step *flow.Step, owned bool) *health.Live {
	if !owned || step == nil || step.Running == 0 {
		return nil
	}
	var live health.LiveAttempt
	data, err := plainfile.Read(dir.Live(), 1<<20)
	if err != nil || json.Unmarshal(data, &live) != nil || live.Step != step.Number || live.Call != step.Call ||
		live.Attempt != step.Running {
		return nil
	}
	return &live.Live
}
