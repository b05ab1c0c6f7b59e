package flow

import "kanban-run/orchestrator/event"

// The events below freeze the board. Like all events of ownership, snapshots and reconciliation,
// they are named as in seed 002.

func (s *State) applyHandoffMissing(e event.HandoffMissing) error       { return s.freeze(e.Text) }
func (s *State) applySplitBrain(e event.SplitBrain) error               { return s.freeze(e.Text) }
func (s *State) applySnapshotNotFound(e event.SnapshotNotFound) error   { return s.freeze(e.Text) }
func (s *State) applySnapshotConflict(e event.SnapshotConflict) error   { return s.freeze(e.Text) }
func (s *State) applyReconcileConflict(e event.ReconcileConflict) error { return s.freeze(e.Text) }

// freeze enters seed 002's STATE_FROZEN.
func (s *State) freeze(text string) error {
	s.Frozen, s.Running = &Freeze{Text: text}, false
	return nil
}
