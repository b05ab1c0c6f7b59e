package roster

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/flow"
	"kanban-run/roles"
)

// TestManagerIsNotReviewed: what it decides is on the board, not in its session.
func TestManagerIsNotReviewed(t *testing.T) {
	r := &Roster{Settings: &config.Settings{}}
	if _, err := r.supervisor(roles.Role{Name: flow.ManagerRole, Review: true}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "for roles that work on tasks") {
		t.Errorf("supervisor of the Manager: %v", err)
	}
	if prompt, err := (&Roster{Single: true}).supervisor(roles.Role{Name: "x", Review: true}, t.TempDir()); prompt != "" || err != nil {
		t.Errorf("supervisor of a single call: %q, %v, want none", prompt, err)
	}
}
