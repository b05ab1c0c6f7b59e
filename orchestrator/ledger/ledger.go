// Package ledger keeps the journal of one board, its history and its owner. No other package
// appends events, applies them to the history or passes them to the observer.
package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// Ledger is the journal of one board and the history that follows from it. One goroutine uses it.
type Ledger struct {
	board    string
	dir      rundir.Dir
	observer Observer
	redactor *redact.Redactor
	now      func() time.Time
	journal  *journal.Journal
	epoch    uint64 // epoch of the records that this process writes
	history  flow.History
	fold     *projection.Fold // of the committed entries; see Folded
	pending  []event.Entry
	logbook  *logbook

	// Durable, unless nil, is called with the committed events before the observer gets them. If it
	// fails, the observer does not get them, and Commit returns the error.
	Durable func([]event.Entry) error
}

// New returns the ledger of the board whose runs are in dir. Open reads its journal.
func New(board string, dir rundir.Dir, o Observer, r *redact.Redactor, now func() time.Time) *Ledger {
	return &Ledger{
		board:    board,
		dir:      dir,
		observer: o,
		redactor: r,
		now:      now,
		fold:     &projection.Fold{Keep: KeepLast},
		logbook:  newLogbook(dir, board),
	}
}

// KeepLast is what the fold of a run keeps.
var KeepLast = projection.Keep{Steps: 1}

// Folded is the journal of a board as far as its run has folded it.
type Folded struct {
	Dir     rundir.Dir
	Journal *journal.Follower // goes on behind what is folded; nil: the journal is to be read anew
	History flow.History
	Fold    *projection.Fold
	Runs    int               // number of runs by then
	LastRun projection.Totals // of this run
}

// Folded returns the journal as this run has folded it, so that a look at the board behind the run need not read it.
func (l *Ledger) Folded() *Folded {
	f := &Folded{Dir: l.dir, History: l.history, Fold: l.fold, Runs: l.fold.Runs, LastRun: l.fold.LastRun}
	if l.journal != nil && len(l.pending) == 0 {
		f.Journal = l.journal.Follow()
	}
	return f
}

// Listen passes each committed event to the function note before the observer gets it.
func (l *Ledger) Listen(note func(event.Entry)) {
	l.observer = tapped{l.observer, note}
}

// Open replays the journal into the history, and calls the function visit for every entry. Errors:
// those of [RequireForm] and [CheckFile], and *UnreadableError.
func (l *Ledger) Open(visit func(event.Entry)) error {
	j, err := journal.Open(l.dir.Journal(), l.now, func(rec journal.Record) error {
		e, err := decode(rec)
		if err != nil {
			return err
		}
		l.logbook.remember(e)
		l.fold.Add(e)
		visit(e)
		l.history.Add(e)
		// An error here leaves the journal as it is. Without one, a torn tail would be cut off.
		return RequireForm(l.dir, l.history)
	})
	if l.history.Newer != nil {
		return RequireForm(l.dir, l.history)
	}
	if err != nil {
		return fmt.Errorf("open the journal: %w", explain(l.dir, err))
	}
	l.journal = j
	if err := CheckFile(l.dir, l.history); err != nil {
		return err
	}
	if kept, n := j.Repaired(); n > 0 {
		l.observer.Notice(l.board,
			fmt.Sprintf("the journal ended in a torn record; its %d bytes are kept in %s", n, kept))
	}
	return nil
}

// Own makes this run the owner of the board, and reconciles changes that no run has made. Errors:
// *failure.Frozen if the board must wait for its Lead.
func (l *Ledger) Own() error {
	err := l.takeOver()
	if err == nil {
		err = l.reconcileChanges()
	}
	if err != nil {
		l.redraw()
		return err
	}
	if len(l.history.Points) == 0 {
		if err := l.TakeSnapshot(); err != nil {
			return err
		}
	}
	l.fallBehind(l.logbook.catchUp(l.dir.Journal()))
	return nil
}

// State returns the state of the board's work.
func (l *Ledger) State() *flow.State { return &l.history.State }

// Close closes the journal. A second call does nothing.
func (l *Ledger) Close() error {
	if l.journal == nil {
		return nil
	}
	j := l.journal
	l.journal = nil
	return j.Close()
}

// Append appends an event to the journal and applies it to the history. The event is on disk after
// the next Commit.
func (l *Ledger) Append(e event.Event) error {
	e, data, err := l.encode(e)
	if err != nil {
		return err
	}
	next := l.history
	entry := event.Entry{
		Seq: next.Seq + 1, Epoch: l.epoch, Rev: next.Rev + 1, Actor: event.Actor(e), Needs: event.Needs(e), Event: e,
	}
	if err := next.Extend(entry); err != nil {
		return err
	}
	r, err := l.journal.Append(draftOf(entry, data))
	if err != nil {
		return err
	}
	l.history, entry.Time = next, r.Time
	l.pending = append(l.pending, entry)
	return nil
}

// encode redacts and encodes an event: nothing comes into a journal another way. It returns the
// redacted event, too, which Append applies to the history. Errors: *failure.Invalid for a secret in
// a name that a later run would have to find again.
func (l *Ledger) encode(e event.Event) (event.Event, []byte, error) {
	if shown := event.SecretName(e, l.redactor.String); shown != "" {
		return nil, nil, failure.SecretName(shown)
	}
	e = event.Redacted(e, l.redactor.String)
	data, err := json.Marshal(e)
	if err != nil {
		return nil, nil, fmt.Errorf("encode event %s: %w", e.Kind(), err)
	}
	return e, data, nil
}

// Commit makes all appended events durable, and only then passes them to the observer.
func (l *Ledger) Commit() error {
	if err := l.journal.Commit(); err != nil {
		return err
	}
	if l.Durable != nil && len(l.pending) > 0 {
		if err := l.Durable(l.pending); err != nil {
			return err
		}
	}
	failpoint.At("log-behind")
	pending := l.pending
	l.pending = nil // a long wait may follow: release the memory
	for _, e := range pending {
		l.fold.Add(e)
		l.fallBehind(l.logbook.follow(e))
		l.observer.Entry(l.board, e)
	}
	return nil
}

// Record appends an event and commits it.
func (l *Ledger) Record(e event.Event) error {
	if err := l.Append(e); err != nil {
		return err
	}
	return l.Commit()
}

// snapshotEvery is the number of steps from one snapshot to the next. A smaller number makes the
// journal longer, and a greater number makes the rebuild longer.
const snapshotEvery = 64

// FinishStep appends the end of a step, and a snapshot after every snapshotEvery steps.
func (l *Ledger) FinishStep(e event.StepFinished) error {
	if err := l.Append(e); err != nil || e.Step%snapshotEvery != 0 {
		return err
	}
	return l.TakeSnapshot()
}

// TakeSnapshot appends the present state as a rollback point, which is on disk after the next
// Commit.
func (l *Ledger) TakeSnapshot() error { return l.Append(l.history.Snapshot(l.board)) }

// DrawIn returns the time until DrawState is allowed to draw again. The second result is false if
// state.md is up to date.
func (l *Ledger) DrawIn() (time.Duration, bool) {
	return max(0, drawEvery-l.now().Sub(l.logbook.drawn)), l.logbook.behind
}

// DrawTimer returns a timer for the next call of DrawState. It does not fire if state.md is up to date.
func (l *Ledger) DrawTimer() *time.Timer {
	wait, behind := l.DrawIn()
	t := time.NewTimer(wait)
	if !behind {
		t.Stop()
	}
	return t
}

// ShowSigns has state.md show the signs of the agent at work, given in words, or none if the words
// are "". Other signs than before are taken at most every 30 seconds.
func (l *Ledger) ShowSigns(signs string) {
	b := l.logbook
	switch now := l.now(); {
	case signs == "":
		b.signs, b.signed = "", time.Time{}
	case signs != b.signs && now.Sub(b.signed) >= signsEvery:
		b.signs, b.signed, b.behind = signs, now, true
	}
}

// DrawState updates state.md, at most once a second. It first reconciles a state.md that was
// edited.
func (l *Ledger) DrawState() error {
	if !l.logbook.takeDrawTurn(l.now()) {
		return nil
	}
	if err := l.reconcileState(); err != nil {
		return err
	}
	l.draw()
	return nil
}

// Finish journals the end of the run, and draws state.md. Under RECONCILE_LOCK, which forbids
// operational writes, it does not journal the end.
func (l *Ledger) Finish(e event.Event) error {
	failpoint.At("run-end")
	err := l.reconcileState()
	if l.history.Custody.Locked == "" {
		err = errors.Join(err, l.finish(e))
	}
	l.draw()
	return err
}

func (l *Ledger) finish(e event.Event) error {
	if err := l.Append(e); err != nil {
		return err
	}
	if err := l.TakeSnapshot(); err != nil {
		return err
	}
	failpoint.At("snapshot-taken")
	return l.Commit()
}

// CheckFile refuses a journal that was copied from another board: its steps and inputs belong to
// that board. Errors: *failure.Invalid.
func CheckFile(dir rundir.Dir, h flow.History) error {
	if own := dir.BoardFile(); h.File != "" && h.File != own {
		return &failure.Invalid{
			Err: fmt.Errorf("journal %s is the one of a board %s, not of %s", dir.Journal(), h.File, own),
			Fix: "give the folder " + dir.Path + " back to its board, or " + moveAside(dir),
		}
	}
	return nil
}
