package roster

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/roles"
)

// TestManagerIsNotReviewed: what it decides is on the board, not in its session.
func TestManagerIsNotReviewed(t *testing.T) {
	r := &Roster{Settings: &config.Settings{}}
	reviewed := roles.Review{Supervisor: true}
	if err := r.setReviewers(&Player{Role: roles.Role{Name: event.ManagerRole, Review: reviewed}}); err == nil || !strings.Contains(err.Error(), "for roles that work on tasks") {
		t.Errorf("supervisor of the Manager: %v", err)
	}
	single := &Player{Role: roles.Role{Name: "x", Review: reviewed}}
	if err := (&Roster{Single: true}).setReviewers(single); single.Supervisor != nil || err != nil {
		t.Errorf("supervisor of a single call: %v, %v, want none", single.Supervisor, err)
	}
}
