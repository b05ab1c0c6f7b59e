package orchestrator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
)

// FrozenError says that nobody may go on with a board before its Lead has looked at it: seed 002, STATE_FROZEN and
// RECONCILE_LOCK.
type FrozenError struct{ Text string }

func (e *FrozenError) Error() string { return e.Text }

// foreignError is a journal that is not as this run left it.
type foreignError struct {
	err  error
	kept string // folder where the output is that could not be recorded
}

func (e *foreignError) Error() string { return e.err.Error() }
func (e *foreignError) Unwrap() error { return e.err }

// Hint says what to do about it.
func (e *foreignError) Hint() string {
	return "somebody changed, moved or removed the files of this run while it was at work; a reply that could not be recorded is in " + e.kept +
		"; find out who did it, then the same command goes on"
}

// take makes this run the owner of the board: seed 002, "Lead -> Supervisor handoff contract". The person who started the
// run hands it over. It is on disk with the first commit, before anything else that the run writes.
func (l *ledger) take() error {
	if l.history.Custody.Locked != "" && l.history.State.Frozen == nil {
		// A run died while it reconciled: the procedure is the same however often it is begun.
		if err := l.resume(); err != nil {
			return err
		}
	}
	if text := l.history.Frozen(); text != "" {
		return &FrozenError{text}
	}
	if b := l.history.Breach; b != nil && b.Kind != flow.Conflict {
		return l.forbid(b.Kind, b.Text, nil)
	}
	was := l.history.Custody
	epoch, err := l.journal.BeginEpoch()
	if err != nil {
		return err
	}
	l.epoch = epoch
	owner := fmt.Sprintf("%s@%d-%08x", flow.ActorRun, epoch, rand.Uint32())
	events := []flow.Event{
		flow.HandoffOffered{Board: l.board, File: l.file(), Epoch: epoch, Owner: owner, PreviousEpoch: was.Epoch, Previous: was.Owner},
		flow.HandoffAcked{Board: l.board, Epoch: epoch, Owner: owner},
	}
	if was.Offers > 0 {
		events = append(events, flow.HandoffDuplicate{Board: l.board, Epoch: was.Epoch, Owner: was.Owner, Count: was.Offers})
	}
	for _, e := range events {
		if err := l.note(e); err != nil {
			return err
		}
	}
	failpoint.At("ownership-taken")
	return nil
}

// file is the name of the board's file, after which the run's folder is named.
func (l *ledger) file() string { return filepath.Base(filepath.Dir(l.path)) }

// whose makes sure that a journal is the board's own, and was not copied from another one: its steps and its agents' inputs
// are of that board.
func whose(path string, h flow.History) error {
	if own := filepath.Base(filepath.Dir(path)); h.File != "" && h.File != own {
		return &InvalidError{Err: fmt.Errorf("journal %s is the one of a board %s, not of %s", path, h.File, own),
			Fix: "give the folder " + filepath.Dir(path) + " back to its board, or move it aside to begin a new run"}
	}
	return nil
}

// forbid says that the board has no owner who could go on, and locks it. The records belong to the epoch that was: this run
// never became the owner.
func (l *ledger) forbid(kind flow.BreachKind, text string, owners []string) error {
	epoch, err := l.journal.ContinueEpoch()
	if err != nil {
		return err
	}
	l.epoch = epoch
	text = fmt.Sprintf("%s: %s", kind, text)
	var said flow.Event = flow.HandoffMissing{Board: l.board, Epoch: l.history.Custody.Epoch, Text: text}
	if kind == flow.TwoOwners {
		said = flow.SplitBrain{Board: l.board, Owners: owners, Text: text}
	}
	err = l.note(said)
	if err == nil {
		err = l.record(flow.LockEntered{Board: l.board, Reason: text})
	}
	if err != nil {
		return err
	}
	return &FrozenError{text}
}

// splitBrain finds out why the journal is not as this run left it. When another run has written to it, both believe that the
// board is theirs: this one says so in the journal, which stops the other at its next record, and ends.
func (r *run) splitBrain(cause error) error {
	mine := r.history.Custody.Owner
	if err := r.ledger.close(); err != nil {
		return errors.Join(cause, err)
	}
	cause = &foreignError{err: cause, kept: r.files.steps()}
	if _, err := os.Lstat(r.ledger.path); err != nil {
		return cause // removed, and nobody wrote another
	}
	now := &ledger{board: r.ledger.board, path: r.ledger.path, observer: r.observer, redactor: r.redactor, onCommit: r.onCommit}
	err := now.open(r.job.Now, func(flow.Entry) {})
	var held *durable.HeldError
	switch {
	case errors.As(err, &held):
		return &FrozenError{fmt.Sprintf("%s: another run took %s over while this one was at work on it", flow.TwoOwners, r.job.Board)}
	case err != nil:
		return errors.Join(cause, err)
	}
	r.ledger = now
	theirs := now.history.Custody
	switch {
	case theirs.Locked != "":
		return &FrozenError{now.history.Frozen()}
	case theirs.Owner == mine:
		return cause
	default:
		text := fmt.Sprintf("%s and %s both own %s", mine, theirs.Owner, r.job.Board)
		return now.forbid(flow.TwoOwners, text, []string{mine, theirs.Owner})
	}
}
