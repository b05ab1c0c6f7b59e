package ledger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// foreignError is the error for a journal that something other than a run has changed, moved or
// removed.
type foreignError struct {
	err  error
	kept string // folder of the output that could not be journaled; "": there was none
}

func (e *foreignError) Error() string { return e.err.Error() }
func (e *foreignError) Unwrap() error { return e.err }

// Hint names the place of a lost reply, and the way to continue.
func (e *foreignError) Hint() string {
	text := "the files of this run were changed while it was at work; "
	if e.kept != "" {
		text += "a reply that could not be recorded is in " + failure.Quote(e.kept) + "; "
	}
	return text + "find out by what, then the same command goes on"
}

// Resumes marks the hint as one that says how the run goes on.
func (*foreignError) Resumes() {}

// takeOver makes this run the owner of the board (seed 002, "Lead -> Supervisor handoff contract").
// The person that starts a run hands the board over. The events of the handoff are the first in the
// new epoch. The first commit of the epoch writes these events to the disk.
func (l *Ledger) takeOver() error {
	if l.history.Custody.Locked != "" && l.history.State.Frozen == nil {
		// A run died while it reconciled. Repeat the procedure, which does no harm.
		if err := l.resumeReconciliation(); err != nil {
			return err
		}
	}
	if text := l.history.Frozen(); text != "" && l.history.StandstillOutcome() == event.Frozen {
		return &failure.Frozen{Text: text}
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
	owner := fmt.Sprintf("%s@%d-%08x", event.ActorRun, epoch, rand.Uint32())
	events := []event.Event{
		event.HandoffOffered{
			Board:         l.board,
			File:          l.dir.BoardFile(),
			Epoch:         epoch,
			Owner:         owner,
			PreviousEpoch: was.Epoch,
			Previous:      was.Owner,
		},
		event.HandoffAcked{Board: l.board, Epoch: epoch, Owner: owner},
	}
	if was.Offers > 0 {
		events = append(events, event.HandoffDuplicate{
			Board: l.board,
			Epoch: was.Epoch,
			Owner: was.Owner,
			Count: was.Offers,
		})
	}
	for _, e := range events {
		if err := l.Append(e); err != nil {
			return err
		}
	}
	failpoint.At("ownership-taken")
	return nil
}

// forbid journals a breach of ownership and locks the board, so that no run can own the board. The
// records of the breach go into the last epoch, because this run does not own the board, or owns it
// no longer. forbid returns *failure.Frozen.
func (l *Ledger) forbid(kind flow.BreachKind, text string, owners []string) error {
	epoch, err := l.journal.ContinueEpoch()
	if err != nil {
		return err
	}
	l.epoch = epoch
	text = fmt.Sprintf("%s: %s", kind, text)
	var breach event.Event = event.HandoffMissing{Board: l.board, Epoch: l.history.Custody.Epoch, Text: text}
	if kind == flow.TwoOwners {
		breach = event.SplitBrain{Board: l.board, Owners: owners, Text: text}
	}
	err = l.Append(breach)
	if err == nil {
		err = l.Record(event.LockEntered{Board: l.board, Reason: text})
	}
	if err != nil {
		return err
	}
	return &failure.Frozen{Text: text}
}

// ResolveForeignWrite finds out why the journal differs from what this run has written. If another
// run has written to the journal, both runs believe that they own the board. If the other run has
// the journal open, ResolveForeignWrite does not write to the journal. If not, it journals the
// conflict. kept is the folder of output that could not be journaled, or "". Errors: *failure.Frozen if
// there is another run, and otherwise the given cause.
func (l *Ledger) ResolveForeignWrite(cause error, kept string) error {
	mine := l.history.Custody.Owner
	if err := l.Close(); err != nil {
		return errors.Join(cause, err)
	}
	cause = &foreignError{err: cause, kept: kept}
	if _, err := os.Lstat(l.dir.Journal()); err != nil {
		return cause // the journal was removed, and no other one is in its place
	}
	now := New(l.board, l.dir, l.observer, l.redactor, l.now)
	err := now.Open(func(event.Entry) {})
	var held *durable.HeldError
	switch {
	case errors.As(err, &held):
		return &failure.Frozen{
			Text: fmt.Sprintf("%s: another run took %s over while this one was at work on it", flow.TwoOwners, l.board),
		}
	case err != nil:
		return errors.Join(cause, err)
	}
	*l = *now
	theirs := l.history.Custody
	switch {
	case theirs.Locked != "":
		return &failure.Frozen{Text: l.history.Frozen()}
	case theirs.Owner == mine:
		return cause
	default:
		text := fmt.Sprintf("%s and %s both own %s", mine, theirs.Owner, l.board)
		return l.forbid(flow.TwoOwners, text, []string{mine, theirs.Owner})
	}
}
