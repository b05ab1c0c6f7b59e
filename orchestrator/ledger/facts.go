package ledger

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/marks"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// FactsOf returns the facts that determine how a board stands. fault is the reason why the board
// cannot be read; if b and fault are nil, only the journal is known. owned is true while a run is
// at work. Errors: the last run died in an attempt whose end contradicts the journal.
func FactsOf(dir rundir.Dir, boardPath string, b *board.Board, fault error, h *flow.History, owned bool) (projection.Facts, error) {
	f := projection.Facts{Never: h.State.NeverRan(), Owned: owned, Journal: dir.Journal(), Log: dir.Log()}
	switch {
	case fault != nil:
		f.Fault, _, _ = strings.Cut(fault.Error(), "\n")
		return f, nil
	case b == nil:
		return f, nil
	}
	f.Away = !durable.Place(h.State.Place).IsAt(dir.Place())
	place, unfound := workspace.PlaceOf(boardPath, h.State.Workdir, b)
	f.List = asBeforeFreeze(workspace.ListIn(place, unfound, b), dir, b.File, h)
	f.Board = workspace.Bare(b)
	f.Board.Over = b.PhaseEnds()
	if !b.Terminal() {
		f.Current = b.Current.Path
	}
	if h.State.AsksOf {
		for _, i := range asked.Waiting(h.State.Workdir) {
			f.Asked = append(f.Asked, i.Words)
		}
	}
	if owned || h.Standstill() != "" {
		return f, nil
	}
	unknown, err := unknownEnd(dir, b, place, h)
	if len(unknown) > 0 {
		f.Unknown = unknown[len(unknown)-1].(event.StateDiverged).Text
	}
	if gone := goneTask(b, place, &h.State); gone != nil && f.Unknown == "" {
		f.Fault, f.Fix = gone.Error(), failure.HintOf(gone)
	}
	return f, err
}

// goneTask returns the error for a current task without a file, for which a run would refuse the board,
// or nil. place is nil if the work directory cannot be opened.
func goneTask(b *board.Board, place *board.Place, s *flow.State) error {
	if place == nil || b.Terminal() || s.NeverRan() {
		return nil
	}
	_, err := workspace.View(b, s, place.ReadTask, func(role string) (string, error) { return role, nil })
	if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// asBeforeFreeze returns the list with those marks alone that it had before the turn that froze the
// board, until a person has decided about the others. A board that only goes another way to git has
// the marks that it has.
func asBeforeFreeze(l flow.List, dir rundir.Dir, name string, h *flow.History) flow.List {
	if f := h.State.Frozen; f == nil || f.Git != nil {
		return l
	}
	if before, err := board.ReadCopy(dir.Before(), name, shaBeforeTurn(h)); err == nil {
		marked, find := l.Marked, before.Finder()
		l.Marked = func(i int) bool {
			was := find(l.Paths[i])
			return marked(i) && was >= 0 && before.Entry(was).Done()
		}
	}
	if kept := marks.In(dir.ReadNote(), h.State.Marks); kept != nil {
		done := l.Done
		l.Done = func(i int) bool { return done(i) && !kept.IsOpen(l.Paths[i]) }
	}
	return l
}

// unknownEnd looks at a board whose last run died in the turn of an agent. If the board is over, and
// its author cannot be told, unknownEnd returns the events that report this end. The next run would
// journal the same events, but the Lead can decide about the end before that run.
func unknownEnd(dir rundir.Dir, b *board.Board, place *board.Place, h *flow.History) (events []event.Event, err error) {
	s := h.State
	if e := UnknownBehind(dir, filepath.Base(b.File), b, &s); e != nil {
		return []event.Event{*e}, nil
	}
	lost, err := flow.CloseAttempt(&s, func(e event.Event) error {
		events = append(events, e)
		return s.Apply(e)
	})
	if err != nil || !lost {
		return nil, err
	}
	if e := UnknownEnd(dir, filepath.Base(b.File), b, place, &s); e != nil {
		return append(events, *e), nil
	}
	return nil, nil
}

// Question returns what a person may decide about a board after its run has ended, or nil if nothing
// is known. fault is the reason why the board cannot be read, or nil.
func (l *Ledger) Question(boardPath string, b *board.Board, fault error) *projection.Question {
	f, err := FactsOf(l.dir, boardPath, b, fault, &l.history, false)
	if err != nil {
		return nil
	}
	return f.Question(&l.history)
}
