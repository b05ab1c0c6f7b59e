package orchestrator

import (
	"bytes"
	"encoding/json"
	"fmt"

	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
)

// actor is who writes the records of a run; an agent's reply is recorded by the runner on the agent's behalf and bears its
// role (seed 002: a record without an actor is rejected).
const actor = "kanban-run"

// ledger is the only place where an event is journaled, applied to the state and shown, in this order. One goroutine uses it.
type ledger struct {
	board    string
	journal  *journal.Journal
	state    flow.State
	observer Observer
	redactor *redact.Redactor
	pending  []flow.Entry
	onCommit func(flow.Entry) error // keeps the Markdown files up with the journal
}

// note appends an event and applies it. It is on disk after the next commit.
func (l *ledger) note(e flow.Event) error {
	e, data, err := l.clean(e)
	if err != nil {
		return err
	}
	next := l.state
	if err := next.Apply(e); err != nil {
		return err
	}
	r, err := l.journal.Append(journal.Draft{Type: e.Kind(), TaskID: e.Subject(), Rev: next.Rev, Actor: actorOf(e), Data: data})
	if err != nil {
		return err
	}
	l.state = next
	l.pending = append(l.pending, flow.Entry{Seq: r.Seq, Epoch: r.Epoch, Time: r.Time, Event: e})
	return nil
}

// clean encodes an event without secrets, and returns it as a reader of the journal will see it.
func (l *ledger) clean(e flow.Event) (flow.Event, []byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, nil, fmt.Errorf("encode event %s: %w", e.Kind(), err)
	}
	redacted := l.redactor.Bytes(data)
	if bytes.Equal(redacted, data) {
		return e, data, nil
	}
	e, err = flow.Decode(e.Kind(), redacted)
	return e, redacted, err
}

// commit makes all noted events durable and only then tells of them.
func (l *ledger) commit() error {
	if err := l.journal.Commit(); err != nil {
		return err
	}
	pending := l.pending
	l.pending = l.pending[:0]
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

func actorOf(e flow.Event) string {
	switch e := e.(type) {
	case flow.ReplyAccepted:
		return e.Role
	case flow.Acknowledged:
		return "Lead"
	default:
		return actor
	}
}

// decode turns a record of the journal back into an entry.
func decode(r journal.Record) (flow.Entry, error) {
	e, err := flow.Decode(r.Type, r.Data)
	if err != nil {
		return flow.Entry{}, fmt.Errorf("record %d: %w", r.Seq, err)
	}
	return flow.Entry{Seq: r.Seq, Epoch: r.Epoch, Time: r.Time, Event: e}, nil
}
