package orchestrator

import (
	"fmt"

	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// reconcile is seed 002's "Deterministic reconcile procedure"; the numbers are its steps. It returns nil when the run may go
// on, and a *FrozenError when the Lead has to decide.
func (l *ledger) reconcile(d flow.StateDiverged) error {
	// 1. and 2.: from here on only the events of this procedure may be written, 3.
	if err := l.note(d); err != nil {
		return err
	}
	if err := l.record(flow.LockEntered{Board: l.board, Reason: d.Text}); err != nil {
		return err
	}
	return l.settle(d.Text)
}

// resume goes on with a reconciliation whose run died: in its epoch, since nothing may change hands in RECONCILE_LOCK.
func (l *ledger) resume() (err error) {
	if l.epoch, err = l.journal.ContinueEpoch(); err != nil {
		return err
	}
	return l.settle(l.history.Custody.Locked)
}

// settle is what follows in RECONCILE_LOCK.
func (l *ledger) settle(reason string) error {
	// 4. and 5.
	points := l.history.Points
	switch {
	case len(points) == 0:
		text := "SNAPSHOT_NOT_FOUND: there is no verifiable snapshot to roll back to, after " + reason
		return l.freeze(flow.SnapshotNotFound{Board: l.board, Text: text}, text)
	case len(points) > 1:
		conflict := flow.SnapshotConflict{Board: l.board, ReplayIndex: points[0].ReplayIndex}
		for _, p := range points {
			conflict.Hashes = append(conflict.Hashes, p.Hash)
		}
		conflict.Text = fmt.Sprintf("SNAPSHOT_CONFLICT: %d snapshots claim to be the state at record %d", len(points), points[0].ReplayIndex)
		return l.freeze(conflict, conflict.Text)
	}
	// 6. and 7.
	rebuilt, err := l.rebuild(points[0])
	if err != nil {
		return err
	}
	switch {
	case rebuilt.Conflict != "": // 10.
		text := "RECONCILE_CONFLICT: " + rebuilt.Conflict
		return l.freeze(flow.ReconcileConflict{Board: l.board, Findings: rebuilt.Findings, Text: text}, text)
	case !rebuilt.Same(&l.history): // 9. "if rollback affects active tasks, require explicit Lead ACK before applying it"
		return &FrozenError{reason}
	default: // 8. and 11., "explicit no-impact determination"
		return l.record(rebuilt.Exit(l.board, flow.DecisionNoImpact, reason, points[0]))
	}
}

func (l *ledger) freeze(e flow.Event, text string) error {
	if err := l.record(e); err != nil {
		return err
	}
	return &FrozenError{text}
}

// rebuild reads the records after the rollback point again and replays them.
func (l *ledger) rebuild(point flow.Snapshot) (flow.Rebuilt, error) {
	var after []flow.Entry
	_, err := journal.Read(l.path, func(rec journal.Record) error {
		if rec.Seq <= point.ReplayIndex {
			return nil
		}
		e, err := decode(rec)
		after = append(after, e)
		return err
	})
	if err != nil {
		return flow.Rebuilt{}, err
	}
	return flow.Rebuild(point, after), nil
}

// snapshotEvery is how many steps may lie between two snapshots. Fewer make a longer journal, more a longer rebuild.
const snapshotEvery = 64

// snapshot keeps the present state as a rollback point. It is on disk with the next commit.
func (l *ledger) snapshot() error { return l.note(l.history.Snapshot(l.board)) }
