package orchestrator

import (
	"encoding/json"
	"fmt"
	"time"

	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
)

// ledger is the only place where an event is journaled, applied to the history and shown, in this order. One goroutine uses it.
type ledger struct {
	board    string
	path     string // of the journal
	journal  *journal.Journal
	epoch    uint64 // of the records that are written
	history  flow.History
	observer Observer
	redactor *redact.Redactor
	pending  []flow.Entry
	onCommit func(flow.Entry) error // keeps the Markdown files up with the journal
}

// open replays the journal into the history; each sees every entry.
func (l *ledger) open(now func() time.Time, each func(flow.Entry)) error {
	j, err := journal.Open(l.path, now, func(rec journal.Record) error {
		e, err := decode(rec)
		if err != nil {
			return err
		}
		each(e)
		l.history.Add(e)
		return nil
	})
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	l.journal = j
	if err := whose(l.path, l.history); err != nil {
		return err
	}
	if kept, n := j.Repaired(); n > 0 {
		l.observer.Notice(l.board, fmt.Sprintf("the journal ended in a torn record; its %d bytes are kept in %s", n, kept))
	}
	return nil
}

// close gives the journal back. It may be called twice.
func (l *ledger) close() error {
	if l == nil || l.journal == nil {
		return nil
	}
	j := l.journal
	l.journal = nil
	return j.Close()
}

// note appends an event and applies it. It is on disk after the next commit.
func (l *ledger) note(e flow.Event) error {
	e, data, err := l.clean(e)
	if err != nil {
		return err
	}
	next := l.history
	entry := flow.Entry{Seq: next.Seq + 1, Epoch: l.epoch, Rev: next.Rev + 1, Actor: flow.Actor(e), Event: e}
	if err := next.Extend(entry); err != nil {
		return err
	}
	r, err := l.journal.Append(journal.Draft{Type: e.Kind(), TaskID: e.Subject(), Rev: entry.Rev, Actor: entry.Actor, Data: data})
	if err != nil {
		return err
	}
	l.history, entry.Time = next, r.Time
	l.pending = append(l.pending, entry)
	return nil
}

// clean encodes an event without secrets, and returns it as a reader of the journal will see it.
func (l *ledger) clean(e flow.Event) (flow.Event, []byte, error) {
	e = flow.Redacted(e, l.redactor.String)
	data, err := json.Marshal(e)
	if err != nil {
		return nil, nil, fmt.Errorf("encode event %s: %w", e.Kind(), err)
	}
	return e, data, nil
}

// commit makes all noted events durable and only then tells of them.
func (l *ledger) commit() error {
	if err := l.journal.Commit(); err != nil {
		return err
	}
	failpoint.At("log-behind")
	pending := l.pending
	l.pending = nil // the next ones may be long in coming
	for _, e := range pending {
		if err := l.onCommit(e); err != nil {
			return err
		}
		l.observer.Entry(l.board, e)
	}
	return nil
}

// record is note and commit.
func (l *ledger) record(e flow.Event) error {
	if err := l.note(e); err != nil {
		return err
	}
	return l.commit()
}

// recordError is a whole record that this program cannot have written.
type recordError struct{ err error }

func (e *recordError) Error() string { return e.err.Error() }
func (e *recordError) Unwrap() error { return e.err }

// Hint says what to do about it.
func (e *recordError) Hint() string {
	return "if a newer version of kanban-run has run this board, use that one; else restore the run's folder from a backup, or move it aside to begin a new run"
}

// decode turns a record of the journal back into an entry.
func decode(r journal.Record) (flow.Entry, error) {
	e, err := flow.Decode(r.Type, r.Data)
	if err != nil {
		return flow.Entry{}, &recordError{fmt.Errorf("record %d: %w", r.Seq, err)}
	}
	if e.Subject() != r.TaskID {
		return flow.Entry{}, &recordError{fmt.Errorf("record %d: it is about %q, its data about %q", r.Seq, r.TaskID, e.Subject())}
	}
	return flow.Entry{Seq: r.Seq, Epoch: r.Epoch, Rev: r.Rev, Time: r.Time, Actor: r.Actor, Event: e}, nil
}
