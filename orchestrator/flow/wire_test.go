package flow

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/eventtest"
)

// TestEveryStateSurvivesItsSnapshot: a state whose every field is set is the
// one that its snapshot holds.
func TestEveryStateSurvivesItsSnapshot(t *testing.T) {
	var s State
	eventtest.Fill(&s)
	data := encodeState(s)
	if got, err := decodeState(data, hashOf(data)); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v; -state +snapshot\n%s", err, cmp.Diff(s, got))
	}
	if _, err := decodeState(data, hashOf(nil)); err == nil {
		t.Error("a state was read that has another hash")
	}
	later := json.RawMessage(`{"coffee":1,"steps":7}`)
	if got, err := decodeState(later, hashOf(later)); err != nil || !reflect.DeepEqual(got, State{Steps: 7}) {
		t.Errorf("a state of a later version is read as %+v, %v, want what this version knows of it", got, err)
	}
}
