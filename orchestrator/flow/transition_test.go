package flow

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
)

// TestTransitions: each kind of event has a transition, and one: a kind that had none would end every
// run whose journal has it.
func TestTransitions(t *testing.T) {
	if diff := cmp.Diff(event.Kinds(), slices.Sorted(maps.Keys(transitions))); diff != "" {
		t.Errorf("-kinds +transitions\n%s", diff)
	}
}
