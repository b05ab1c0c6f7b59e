package flow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

// Rebuilt is the state of the work as it follows from a rollback point and the records after it.
type Rebuilt struct {
	State    State
	Findings []string // findings of the checks, in the order of the checks
	Affected []string // tasks of records that were passed over or contradict other records, sorted
	// Conflict is the first conflict that a check or the replay found, or "". If the replay failed,
	// State is the state before the failure.
	Conflict string
}

// Rebuild performs seed 002's "Deterministic reconcile procedure", steps 6 and 7: integrity checks
// in a fixed order on the records after the rollback point, and a replay of the records that pass.
// Rebuild expects all records whose seq is greater than the rollback point's replay index. The
// records have to be in order.
func Rebuild(point Snapshot, after []event.Entry) Rebuilt {
	r := rebuilding{
		Rebuilt:  Rebuilt{State: point.State, Findings: []string{}, Affected: []string{}},
		affected: map[string]bool{},
	}
	standing := r.owned(point, after)
	r.monotonic(point, after)
	standing = r.unique(standing)
	r.replay(standing)
	for task := range r.affected {
		r.Affected = append(r.Affected, task)
	}
	slices.Sort(r.Affected)
	return r.Rebuilt
}

type rebuilding struct {
	Rebuilt
	affected map[string]bool
}

func (r *rebuilding) passOver(e event.Entry, text string) {
	r.Findings = append(r.Findings, text)
	r.affected[e.Event.Subject()] = true
}

func (r *rebuilding) conflict(text string) {
	r.Findings = append(r.Findings, text)
	if r.Conflict == "" {
		r.Conflict = text
	}
}

// owned makes the first check, owner/epoch validity: only the owner's records count. It also leaves
// out the records that are not about the work.
func (r *rebuilding) owned(point Snapshot, after []event.Entry) []event.Entry {
	custody := Custody{Epoch: point.Epoch, Owner: point.Owner}
	var standing []event.Entry
	for _, e := range after {
		if b := custody.admit(e); b != nil {
			r.passOver(e, b.Text)
			continue
		}
		if isWork(e.Event) {
			standing = append(standing, e)
		}
	}
	return standing
}

// isWork reports whether an event is about the work, and not about the journal.
func isWork(e event.Event) bool {
	switch e := e.(type) {
	case event.StateDiverged:
		return e.Source == event.SourceBoard || e.Source == event.SourceTasks
	case event.SnapshotTaken, event.HandoffDuplicate:
		return false
	case event.Acknowledged:
		return true
	default:
		return !isRepair(e)
	}
}

// monotonic makes the second check: records and revisions have no gap. Two records that make the
// same revision are left to the next checks.
func (r *rebuilding) monotonic(point Snapshot, after []event.Entry) {
	seq, rev := point.ReplayIndex, uint64(0)
	for _, e := range after {
		if e.Seq != seq+1 {
			r.conflict(fmt.Sprintf("record %d follows record %d", e.Seq, seq))
		}
		if rev > 0 && e.Rev > rev+1 {
			r.affected[e.Event.Subject()] = true
			r.conflict(fmt.Sprintf("record %d makes revision %d, after revision %d", e.Seq, e.Rev, rev))
		}
		seq, rev = e.Seq, max(rev, e.Rev)
	}
}

// unique makes the third and the fourth check. Two records with the same idempotency key (task_id,
// rev, event_type) and the same contents count as one record. Any other records with the same task
// and rev contradict each other, and the first of them stands until the Lead decides.
func (r *rebuilding) unique(events []event.Entry) []event.Entry {
	type revision struct {
		task string
		rev  uint64
	}
	first := map[revision]event.Entry{}
	var standing []event.Entry
	for _, e := range events {
		key := revision{e.Event.Subject(), e.Rev}
		earlier, taken := first[key]
		switch {
		case !taken:
			first[key] = e
			standing = append(standing, e)
		case sameEvent(earlier.Event, e.Event):
			r.Findings = append(r.Findings, fmt.Sprintf("record %d repeats record %d", e.Seq, earlier.Seq))
		default:
			r.affected[key.task] = true
			r.conflict(fmt.Sprintf("records %d (%s) and %d (%s) both make revision %d of %s",
				earlier.Seq, earlier.Event.Kind(), e.Seq, e.Event.Kind(), e.Rev, key.task))
		}
	}
	return standing
}

func sameEvent(a, b event.Event) bool {
	one, err1 := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && a.Kind() == b.Kind() && bytes.Equal(one, two)
}

// replay performs step 7, "Rebuild operational state by canonical replay order". The order is by
// time, kind and actor. The replay ends at the first record that the state refuses.
func (r *rebuilding) replay(events []event.Entry) {
	slices.SortStableFunc(events, func(a, b event.Entry) int {
		return cmp.Or(a.Time.Compare(b.Time),
			cmp.Compare(a.Event.Kind(), b.Event.Kind()),
			cmp.Compare(a.Actor, b.Actor))
	})
	for i, e := range events {
		if err := r.State.Apply(e.Event); err != nil {
			for _, later := range events[i:] {
				r.affected[later.Event.Subject()] = true
			}
			r.conflict(fmt.Sprintf("record %d: %v", e.Seq, err))
			return
		}
	}
}

// Same reports whether the rebuilt state equals the state of h, so that nothing changes. It returns
// false after a breach or a conflict.
func (r Rebuilt) Same(h *History) bool {
	return h.Breach == nil && r.Conflict == "" && hashOf(encodeState(r.State)) == hashOf(encodeState(h.State))
}

// Exit returns the event that ends a reconciliation, with its entry for the rollback trail. The
// event holds the rebuilt state only if decision is DecisionLead. In that case the rebuilt state
// replaces the state of the work.
func (r Rebuilt) Exit(board, decision, reason string, point Snapshot) event.LockExited {
	exit := event.LockExited{
		Board: board, Reason: reason, Decision: decision,
		Epoch: point.Epoch, ReplayIndex: point.ReplayIndex, Hash: point.Hash,
		Affected: r.Affected, Findings: r.Findings,
	}
	if decision == event.DecisionLead {
		exit.State = encodeState(r.State)
	}
	return exit
}
