package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/rundir"
)

// draftOf returns the record of an entry that is about to be written.
func draftOf(e event.Entry, data []byte) journal.Draft {
	return journal.Draft{
		Type: e.Event.Kind(), TaskID: e.Event.Subject(), Rev: e.Rev, Actor: e.Actor, Needs: e.Needs, Data: data,
	}
}

// decode turns a record of a journal back into an entry. A record of an unknown kind, and one of a
// later form that cannot be decoded, becomes an [event.Unknown].
func decode(r journal.Record) (event.Entry, error) {
	e, err := event.Decode(r.Type, r.Data)
	switch {
	case errors.Is(err, event.ErrUnknownKind), err != nil && r.Needs > event.Form:
		// The data are copied, because they are valid only during the call for the record.
		e = event.Unknown{Type: r.Type, About: r.TaskID, Writer: r.Actor, Content: append([]byte(nil), r.Data...)}
	case err != nil:
		return event.Entry{}, &recordError{fmt.Errorf("record %d: %w", r.Seq, err)}
	case e.Subject() != r.TaskID:
		return event.Entry{}, &recordError{
			fmt.Errorf("record %d: it is about %q, its data about %q", r.Seq, r.TaskID, e.Subject())}
	}
	return event.Entry{Seq: r.Seq, Epoch: r.Epoch, Rev: r.Rev, Time: r.Time, Actor: r.Actor, Needs: r.Needs,
		Event: e}, nil
}

// recordError is the error for an intact record that this program cannot have written.
type recordError struct{ err error }

func (e *recordError) Error() string { return e.err.Error() }
func (e *recordError) Unwrap() error { return e.err }

// RequireForm refuses a journal with a record that only a later version of this program may run.
// Errors: *failure.Invalid, which wraps [*flow.Newer].
func RequireForm(dir rundir.Dir, h flow.History) error {
	if h.Newer == nil {
		return nil
	}
	use := "use the version of kanban-run that wrote it"
	if v := h.Newer.Version; v != "" && v != "dev" {
		use = "use kanban-run " + v + " or a later version"
	}
	return &failure.Invalid{Err: h.Newer, Fix: use + "; or " + moveAside(dir)}
}

// UnreadableError is the error for a journal that is damaged, or has a record that no version can
// have written. The records before the fault can be shown.
type UnreadableError struct {
	err  error
	hint string
}

func (e *UnreadableError) Error() string { return e.err.Error() }
func (e *UnreadableError) Unwrap() error { return e.err }

// Hint names the ways to continue.
func (e *UnreadableError) Hint() string { return e.hint }

// explain adds the ways to continue to an error of a damaged journal.
func explain(dir rundir.Dir, err error) error {
	if !errors.As(err, new(*journal.DamageError)) && !errors.As(err, new(*recordError)) {
		return err
	}
	return &UnreadableError{err, "restore " + failure.Quote(dir.Path) + " from a backup; or " + moveAside(dir)}
}

// moveAside returns in words how a person begins a new run without the journal. Nothing that it
// says destroys a file.
func moveAside(dir rundir.Dir) string {
	text := fmt.Sprintf("mv %s %s begins a new run from the board as it stands", failure.Quote(dir.Path),
		failure.Quote(unusedName(dir.Path)))
	if branch := branchOf(dir); branch != "" {
		text += "; where checkpoint: git is set, the run then goes on from the state on the branch " + branch
	}
	return text
}

// branchOf returns the branch of the checkpoints of the last run, or "" if it made none. It reads
// the records and not the state, because no state may be known.
func branchOf(dir rundir.Dir) (branch string) {
	_ = journal.Salvage(dir.Journal(), func(r journal.Record) {
		var run event.RunStarted
		if r.Type != run.Kind() || json.Unmarshal(r.Data, &run) != nil {
			return
		}
		if branch = ""; run.Git != nil {
			branch = run.Git.Branch
		}
	})
	return branch
}

// unusedName returns a name beside the path that no file has. A command mv to the name of an
// existing folder would move into that folder.
func unusedName(path string) string {
	for n := 1; ; n++ {
		name := path + ".old"
		if n > 1 {
			name += fmt.Sprint(n)
		}
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}
