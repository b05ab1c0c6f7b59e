package ledger

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// reconcile journals a divergence and decides which state of the work counts (seed 002,
// "Deterministic reconcile procedure"). The comments in this file name its steps. If reconcile
// returns nil, the run may continue. Errors: *failure.Frozen when the Lead has to decide.
func (l *Ledger) reconcile(d event.StateDiverged) error {
	// Steps 1 and 2. From here on, only events of this procedure may be written (step 3).
	if err := l.Append(d); err != nil {
		return err
	}
	if err := l.Record(event.LockEntered{Board: l.board, Reason: d.Text}); err != nil {
		return err
	}
	return l.settle(d.Text)
}

// resumeReconciliation continues a reconciliation whose run died. It stays in the epoch of that
// run, because under RECONCILE_LOCK the board must not change its owner.
func (l *Ledger) resumeReconciliation() (err error) {
	if l.epoch, err = l.journal.ContinueEpoch(); err != nil {
		return err
	}
	return l.settle(l.history.Custody.Locked)
}

// settle runs the reconcile procedure from step 4 on, under RECONCILE_LOCK.
func (l *Ledger) settle(reason string) error {
	// Steps 4 and 5 of the procedure.
	point, why := l.history.RollbackPoint(l.board, reason)
	if why != nil {
		return l.freeze(why)
	}
	// Steps 6 and 7 of the procedure.
	rebuilt, err := l.rebuild(point)
	if err != nil {
		return err
	}
	switch {
	case rebuilt.Conflict != "": // step 10
		return l.freeze(event.ReconcileConflict{
			Board:    l.board,
			Findings: rebuilt.Findings,
			Text:     rebuilt.Conflict,
		})
	case !rebuilt.Same(&l.history):
		// Step 9: "if rollback affects active tasks, require explicit Lead ACK before applying it"
		return &failure.Frozen{Text: reason}
	default: // steps 8 and 11: "explicit no-impact determination"
		return l.Record(rebuilt.Exit(l.board, event.DecisionNoImpact, reason, point))
	}
}

func (l *Ledger) freeze(e event.Event) error {
	if err := l.Record(e); err != nil {
		return err
	}
	return &failure.Frozen{Text: l.history.Frozen()}
}

// rebuild reads the records after the rollback point again and replays them.
func (l *Ledger) rebuild(point flow.Snapshot) (flow.Rebuilt, error) {
	var after []event.Entry
	_, err := journal.Read(l.dir.Journal(), func(rec journal.Record) error {
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

// reconcileChanges reconciles a journal that contradicts itself, or a state.md that was edited.
func (l *Ledger) reconcileChanges() error {
	if text := l.history.Contradiction(); text != "" {
		task := l.board
		if b := l.history.Breach; b != nil {
			task, text = b.Task, b.Text
		}
		return l.reconcile(event.StateDiverged{
			Source: event.SourceJournal,
			Task:   task,
			Text:   "the journal contradicts itself: " + text,
		})
	}
	return l.reconcileState()
}

// reconcileState reconciles a state.md that was edited: it keeps the edited text under another name
// and draws the file again.
func (l *Ledger) reconcileState() error {
	edit, err := l.findEdit()
	l.fallBehind(err)
	if l.logbook.lost || edit.what == "" {
		return nil
	}
	text := fmt.Sprintf("%s was %s; it is made anew from the journal", l.dir.State(), edit.what)
	if edit.kept != "" {
		text += fmt.Sprintf(" (the edited text: %s)", edit.kept)
	}
	err = l.reconcile(event.StateDiverged{Source: event.SourceState, Task: l.board, Text: text})
	// The edited text is renamed only after the record: a crash before the record must not hide the
	// edit.
	l.fallBehind(l.setAside(edit))
	l.draw()
	return err
}

// reconcile journals the Lead's decision about a RECONCILE_LOCK. The decision ends the lock and
// restores the state that was rebuilt from the rollback point (seed 002, "Deterministic reconcile
// procedure", steps 8, 9 and 11). The diff shows how the decision changes the state of the work.
func (a *arbitration) reconcile(q Question, e event.Acknowledged) (Question, error) {
	was, text := a.history.State, a.question.Why
	rebuilt, point, err := a.outcome()
	if err != nil {
		return q, err
	}
	e.Text = "it goes on from the sound records, as you decided"
	if err := rebuilt.State.Apply(e); err != nil {
		return q, err
	}
	change := Unified("state", stateJSON(was), "state after the rollback", stateJSON(rebuilt.State))
	q.Diff = summary(rebuilt, point) + change
	if q.Done = e.Text; e.Choice == "" {
		q.Done = ""
	}
	if a.answer.Ask {
		return q, nil
	}
	events := []event.Event{e, rebuilt.Exit(a.board, event.DecisionLead, text, point)}
	if a.history.Custody.Locked == "" { // no run has found the contradiction yet
		events = slices.Insert(events, 0,
			event.Event(event.StateDiverged{Source: event.SourceJournal, Task: a.board, Text: text}),
			event.Event(event.LockEntered{Board: a.board, Reason: text}))
	}
	return q, a.recordDecision(events...)
}

// outcome returns the state that the reconciliation restores. Without a rollback point, it is the
// state after the records that could be applied.
func (a *arbitration) outcome() (flow.Rebuilt, flow.Snapshot, error) {
	if len(a.history.Points) != 1 {
		unchanged := flow.Rebuilt{State: a.history.State, Affected: []string{}, Findings: []string{}}
		return unchanged, flow.Snapshot{}, nil
	}
	point := a.history.Points[0]
	rebuilt, err := a.rebuild(point)
	return rebuilt, point, err
}
