package orchestrator

import (
	"errors"
	"fmt"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/roster"
)

// dismiss asks the resident supervisor to shut down. The supervisor can change the board while the
// run waits for its answer, and so can a person. If the board's end was changed then, a person
// decides, and nothing is put back.
func (l *loop) dismiss() error {
	switch {
	case l.hold.Anchor.Check() != nil:
		return l.supervisor.Close()
	case !l.supervisor.IsAsked():
		return l.supervisor.Dismiss()
	}
	b, err := l.workspace.Look()
	if err != nil {
		return errors.Join(err, l.supervisor.Dismiss())
	}
	if err := errors.Join(l.workspace.KeepBefore(b), l.supervisor.Dismiss()); err != nil {
		return err
	}
	l.workspace.Forget()
	now, err := l.workspace.Look()
	if err != nil {
		return err
	}
	changed := ledger.UnknownSince(l.folder, l.job.Board, now, b.SHA, "was changed while the run waited for its supervisor to shut down")
	if changed == nil {
		return nil
	}
	return l.ledger.Record(*changed)
}

// hasBehind reports whether programs hear of the end of the board: a checkpoint is pushed with its
// hooks, and commands send notifications. An agent may have written any of them.
func (l *loop) hasBehind() bool {
	return !l.job.DryRun && (l.job.Drain != nil || l.carrier.Branch() != "")
}

// beginEnd keeps the board as it is at the end of the run, and returns its SHA-256, if programs hear
// of the end. Otherwise it returns "".
func (l *loop) beginEnd() string {
	if !l.hasBehind() || l.ledger.State().Frozen != nil { // a person decides about a frozen board, with the bytes that are kept
		return ""
	}
	b, err := l.workspace.Look()
	if err != nil || l.workspace.KeepBefore(b) != nil {
		return ""
	}
	return b.SHA
}

// toldBehind returns the SHA-256 of the board for the record of the end. It is "" if no command hears
// of the end, for then no record of their end follows.
func (l *loop) toldBehind(sha string) string {
	if l.job.Drain == nil {
		return ""
	}
	return sha
}

// finishEnd waits for the programs that hear of the end. What they did to the board is put back,
// as what an agent does in its turn. The board had the given SHA-256.
func (l *loop) finishEnd(sha string) error {
	if sha == "" {
		return nil
	}
	if l.job.Drain != nil {
		l.job.Drain(l.stop)
	}
	const who = "a hook of git or a command for notifications"
	marked := l.marks.Behind(who)
	for _, t := range l.marks.Reroled() {
		marked = errors.Join(marked, l.trust.GiveTask(who, who, event.Reach{Permission: roster.Unbound}, t.Task, l.roleOf(t.Task)))
	}
	if marked != nil {
		return marked
	}
	left := event.BoardLeft{Board: l.job.Board, BoardSHA: sha}
	done, err := l.putBackBehind(sha)
	if err != nil || done == "" && l.job.Drain == nil {
		return err
	}
	if done != "" {
		left.Text = "STATE_DIVERGENCE: " + l.job.Board + " was changed behind the end of the run, by " + who + "; " + done
	}
	if err := errors.Join(l.ledger.Append(left), l.ledger.Commit(), l.carrier.RecordEvents()); err != nil {
		return err
	}
	_, err = l.putBackBehind(sha) // the checkpoint with this record has started the hooks again
	return err
}

// putBackBehind puts the board back if it has another SHA-256, and returns in words what it did.
func (l *loop) putBackBehind(sha string) (done string, err error) {
	l.workspace.Forget()
	if l.workspace.SHA() == sha {
		return "", nil
	}
	if done, err = l.workspace.PutBackSpoiled(sha); err != nil {
		err = fmt.Errorf("put back the board, which a program changed behind the end of the run: %w", err)
	}
	return done, err
}
