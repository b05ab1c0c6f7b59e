package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/rundir"
)

// Reader looks at a board again and again. It reads only what was added to the journal, and nothing while
// the board, its journal and the activity of its agent stay as they are. It is not safe for concurrent use.
type Reader struct {
	looker Looker
	path   string

	dir     rundir.Dir
	journal *journal.Follower // nil: nothing was read
	history flow.History
	fold    *projection.Fold
	seq     uint64 // of the last entry in fold
	seen    string // see mark; "": nothing was read
	board   Board
	round   *round // nil: only this board is looked at
}

// Reader returns a reader of a board.
func (l Looker) Reader(path string) *Reader {
	return &Reader{looker: l, path: path, fold: &projection.Fold{Keep: l.Keep}}
}

// Resume is like Reader, for a board whose run in this process has folded the journal. The fold keeps what
// ledger.KeepLast says. nil stands for a journal that is still to be read.
func (l Looker) Resume(path string, f *ledger.Folded) *Reader {
	r := l.Reader(path)
	dir, err := Locate(path)
	if f == nil || f.Journal == nil || err != nil || dir != f.Dir || l.Keep != ledger.KeepLast {
		return r
	}
	r.dir, r.journal, r.history, r.fold, r.seq = dir, f.Journal, f.History, f.Fold, f.History.Seq
	return r
}

// History is like the function [History], but calls the function visit only for the entries that were
// added since the last call. If the journal was replaced, it calls visit for all entries.
func (r *Reader) History(visit func(event.Entry) error) (flow.History, journal.Summary, error) {
	dir, err := Locate(r.path)
	if err != nil {
		return flow.History{}, journal.Summary{}, err
	}
	if r.journal == nil || dir != r.dir {
		r.dir, r.journal, r.history = dir, journal.Follow(dir.Journal()), flow.History{}
	}
	sum, err := ledger.Continue(r.journal, dir, &r.history, visit)
	if errors.Is(err, journal.ErrReplaced) {
		r.history = flow.History{}
		sum, err = ledger.Continue(r.journal, dir, &r.history, visit)
	}
	h := r.history
	if err != nil {
		r.journal = nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = &ledger.NoRunError{Board: r.path, Archive: r.round.archiveOf(dir)}
	}
	if err == nil && filepath.Base(r.path) != filepath.Base(dir.Journal()) {
		err = ledger.CheckFile(dir, h)
	}
	return h, sum, err
}

// Look is like [Looker.Look]. After an error the next call reads all again.
func (r *Reader) Look() (Board, error) { return r.lookIn(nil) }

func (r *Reader) lookIn(all *round) (Board, error) {
	mark := Mark(r.path)
	if mark == r.seen {
		return r.board, nil
	}
	r.round = all
	b, err := r.looker.look(r.path, r.read, all)
	if r.board, r.seen = b, mark; err != nil {
		r.seen = ""
	}
	return b, err
}

// read adds what was added to the journal to the fold.
func (r *Reader) read() (*projection.Fold, flow.History, error) {
	h, _, err := r.History(func(e event.Entry) error {
		if e.Seq <= r.seq { // another journal came in the place of the one that was read
			r.fold = &projection.Fold{Keep: r.looker.Keep}
		}
		r.fold.Add(e)
		r.seq = e.Seq
		return nil
	})
	fold := r.fold
	if err != nil {
		r.fold, r.seq, r.journal = &projection.Fold{Keep: r.looker.Keep}, 0, nil
	}
	return fold, h, err
}

// Mark returns a text that changes when a board's file, its journal or the activity of its agent changes,
// and when a run begins or ceases to own the board.
func Mark(path string) string {
	dir, err := Locate(path)
	if err != nil {
		return err.Error()
	}
	owned, _ := dir.IsOwned() // an error counts as not owned
	return fmt.Sprint(stamp(dir.Journal()), stamp(path), stamp(dir.Live()), owned, ";")
}

// stamp returns a text that changes when a file changes.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), " ")
}
