package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// Gate is the state of a board's teardown, in which its team ends.
type Gate struct {
	State   event.TeardownState
	Reason  string      // why the team is not ready to be deleted; "": it is ready
	Archive string      // path of the archive; "": the folder was not deleted
	Clone   *flow.Clone // of the board, which stays, and so do its commits; nil: it had none
}

// Teardown ends the team of a board on which no run works (seed 002, "Teardown Readiness"). No
// member of the team is alive then, so Teardown only checks two conditions: the board is ready, and
// all members have answered the request to shut down. The Lead's decision to go on without an
// answer replaces the second condition. If both conditions hold, and the parameter remove is true,
// Teardown archives and removes the folder of the board's runs. Errors: those of [Acknowledge].
func Teardown(
	boardPath string, dir rundir.Dir, remove bool, r *redact.Redactor, now func() time.Time,
) (g Gate, err error) {
	if _, err := os.Stat(dir.Journal()); err != nil {
		return g, &NoRunError{Board: boardPath}
	}
	lock, err := dir.Acquire()
	if err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	b, err := parseBoard(boardPath)
	if err != nil {
		return g, err
	}
	l := New(filepath.Base(boardPath), dir, Silent{}, r, now)
	a := &arbitration{Ledger: l, path: boardPath, before: b}
	if err = a.read(); err == nil {
		g, err = a.teardown()
	}
	if err == nil && remove && g.State == event.ReadyToDelete {
		if g.State = event.TeamDeleted; a.hadTeam() {
			err = a.recordDecision(event.TeardownMoved{Board: l.board, To: event.TeamDeleted})
		}
	}
	if g.Clone = l.State().Clone; err == nil {
		l.redraw() // an edited state.md is kept under another name
	}
	if err == nil && a.decided {
		a.ReportTeardown(g)
	}
	if err = errors.Join(err, l.Close()); err != nil || g.State != event.TeamDeleted {
		return g, err
	}
	g.Archive = dir.ArchivePath(now())
	if err := dir.Archive(g.Archive); err != nil {
		return g, fmt.Errorf("archive %s: %w", dir.Path, err)
	}
	return g, dir.Remove()
}

// teardown checks whether the team can be deleted, and journals the new state of the teardown.
func (a *arbitration) teardown() (Gate, error) {
	h, at := a.history, a.history.State.Teardown
	reason := a.notReady()
	switch {
	case at != nil && at.State == event.TeamDeleted: // the archive was not finished earlier
		return Gate{State: event.TeamDeleted}, nil
	case !a.hadTeam() && reason == "":
		return Gate{State: event.ReadyToDelete}, nil
	case reason != "" && (h.Standstill() != "" || h.State.Step != nil || !a.hadTeam()): // not to be journaled
		return Gate{State: event.FailedSafe, Reason: reason}, nil
	case len(at.Unanswered()) > 0 && reason == "":
		never := fmt.Sprintf("%s never answered: kanban-run ack %s accept goes on without",
			strings.Join(at.Missing, ", "), failure.Quote(a.path))
		return Gate{State: event.FailedSafe, Reason: never}, a.failSafe()
	case at != nil && at.State == event.ReadyToDelete && reason == "":
		return Gate{State: event.ReadyToDelete}, nil
	case reason != "":
		return Gate{State: event.FailedSafe, Reason: reason}, a.recordDecision(
			a.move(event.TeardownInit, ""),
			event.TeardownBlocked{Board: a.board, Reason: reason},
			a.move(event.FailedSafe, reason))
	default:
		return Gate{State: event.ReadyToDelete}, a.recordDecision(
			a.move(event.TeardownInit, ""),
			a.move(event.ReadyToDelete, ""))
	}
}

// hadTeam reports whether a run has worked on the board. If none has, the journal holds only
// decisions of a person, and there is no owner that could journal a teardown.
func (a *arbitration) hadTeam() bool { return !a.history.State.NeverRan() }

// notReady returns the reason why the team cannot be deleted even if all members have shut down
// (seed 002, "Forced-finalize preconditions"). A decision that the board waits for is such a
// reason.
func (a *arbitration) notReady() string {
	reason := a.history.NotReady(a.before.Terminal())
	if reason == "" && a.standing.Who != projection.Nobody && a.standing.About() != event.AboutTeam {
		reason = "the board waits for a decision: " + a.standing.Why()
		if !a.standing.Who.AsksPerson() {
			reason = "the board has to be run again: " + a.standing.Why()
		}
	}
	return reason
}

// failSafe journals that members have never answered the request to shut down, unless that is
// journaled already.
func (a *arbitration) failSafe() error {
	at := a.history.State.Teardown
	if at.State == event.FailedSafe {
		return nil
	}
	reason := strings.Join(at.Missing, ", ") + " has not answered the request to shut down"
	return a.recordDecision(
		a.move(event.TeardownInit, ""),
		event.TeardownBlocked{Board: a.board, Reason: reason},
		a.move(event.FailedSafe, reason))
}

func (a *arbitration) move(to event.TeardownState, reason string) event.TeardownMoved {
	return event.TeardownMoved{Board: a.board, To: to, Reason: reason}
}

// finalize journals the Lead's decision to end the team although some members never answered (seed
// 002, "Bounded forced-finalize path", step 6).
func (a *arbitration) finalize(q Question) (Question, error) {
	at := a.history.State.Teardown
	if len(at.Unanswered()) == 0 {
		return q, &failure.Invalid{
			Err: fmt.Errorf("%s waits for no forced finalize", a.board),
			Fix: "kanban-run teardown " + failure.Quote(a.path) + " shows where it stands",
		}
	}
	if reason := a.notReady(); reason != "" {
		return q, &failure.Invalid{
			Err: fmt.Errorf("%s cannot be finalized: %s", a.board, reason),
			Fix: "kanban-run status " + failure.Quote(a.path),
		}
	}
	if q.Done = neverAnswered(at.Missing) + "; the team may be deleted without, as you decided"; a.answer.Ask {
		return q, nil
	}
	if err := a.failSafe(); err != nil {
		return q, err
	}
	acked := event.ForcedFinalizeAcked{Board: a.board, Note: a.answer.Note}
	approved := event.TeardownMoved{Board: a.board, To: event.ReadyToDelete, Status: "FORCED_FINALIZE_APPROVED"}
	if err := a.recordDecision(acked, approved); err != nil {
		return q, err
	}
	a.ReportTeardown(Gate{State: event.ReadyToDelete})
	return q, nil
}

func neverAnswered(members []string) string {
	return strings.Join(members, ", ") + " never answered the request to shut down"
}

// ReportTeardown writes a report of the team's end to a file of the run (seed 002, "Teardown
// report").
func (l *Ledger) ReportTeardown(g Gate) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Teardown of %s\n\n- state: %s\n- time: %s\n",
		inert.Markdown(l.board), g.State, l.now().UTC().Format(time.RFC3339))
	if g.Reason != "" {
		fmt.Fprintf(&b, "- blocked: %s\n", inert.Markdown(l.redactor.String(g.Reason)))
	}
	if at := l.history.State.Teardown; at != nil {
		for _, name := range at.Missing {
			fmt.Fprintf(&b, "- unresolved ACK: %s\n", inert.Markdown(name))
		}
		if at.Forced {
			fmt.Fprintf(&b, "- ACK_STATUS=FORCED_FINALIZE_APPROVED\n")
		}
	}
	l.fallBehind(rundir.ReplaceFile(l.dir.Report(), []byte(b.String())))
}
