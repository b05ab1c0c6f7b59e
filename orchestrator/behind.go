package orchestrator

import (
	"errors"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/roster"
)

// dismiss asks the resident supervisor to shut down, at the end of the run.
func (l *loop) dismiss() error {
	switch {
	case l.hold.Anchor.Check() != nil:
		return l.supervisor.Close()
	case !l.supervisor.IsAsked():
		return l.supervisor.Dismiss()
	default:
		return l.divergence.During(l.supervisor.Dismiss, "was changed while the run waited for its supervisor to shut down")
	}
}

// hasBehind reports whether programs hear of the end of the board: a checkpoint is pushed with its
// hooks, and commands send notifications. An agent may have written any of them.
func (l *loop) hasBehind() bool {
	return !l.job.DryRun && (l.job.Drain != nil || l.carrier.Branch() != "")
}

// beginEnd keeps the board as it is at the end of the run, and returns its SHA-256, if programs hear
// of the end. Otherwise it returns "".
func (l *loop) beginEnd() string {
	if !l.hasBehind() {
		return ""
	}
	return l.divergence.Keep()
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
	given := l.trust.GiveTasks(who, who, event.Reach{Permission: roster.Unbound}, l.marks.Reroled())
	if err := errors.Join(marked, given); err != nil {
		return err
	}
	left := event.BoardLeft{Board: l.job.Board, BoardSHA: sha}
	done, err := l.divergence.PutBackBehind(sha)
	if err != nil || done == "" && l.job.Drain == nil {
		return err
	}
	if done != "" {
		left.Text = "STATE_DIVERGENCE: " + l.job.Board + " was changed behind the end of the run, by " + who + "; " + done
	}
	if err := errors.Join(l.ledger.Append(left), l.ledger.Commit(), l.carrier.RecordEvents()); err != nil {
		return err
	}
	_, err = l.divergence.PutBackBehind(sha) // the checkpoint with this record has started the hooks again
	return err
}
