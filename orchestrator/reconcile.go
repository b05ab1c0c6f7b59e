package orchestrator

import (
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
	point, why := l.history.RollbackPoint(l.board, reason)
	if why != nil {
		return l.freeze(why)
	}
	// 6. and 7.
	rebuilt, err := l.rebuild(point)
	if err != nil {
		return err
	}
	switch {
	case rebuilt.Conflict != "": // 10.
		return l.freeze(flow.ReconcileConflict{Board: l.board, Findings: rebuilt.Findings, Text: "RECONCILE_CONFLICT: " + rebuilt.Conflict})
	case !rebuilt.Same(&l.history): // 9. "if rollback affects active tasks, require explicit Lead ACK before applying it"
		return &FrozenError{reason}
	default: // 8. and 11., "explicit no-impact determination"
		return l.record(rebuilt.Exit(l.board, flow.DecisionNoImpact, reason, point))
	}
}

func (l *ledger) freeze(e flow.Event) error {
	if err := l.record(e); err != nil {
		return err
	}
	return &FrozenError{l.history.Frozen()}
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
