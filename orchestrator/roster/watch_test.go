package roster

import (
	"fmt"
	"testing"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/health"
	"kanban-run/roles"
)

// TestStageTimes holds the twelve times of seed 002, "Use role-aware staged actions (defaults)": ping, escalate, replacement
// proposal.
func TestStageTimes(t *testing.T) {
	for _, tt := range []struct {
		role string
		duty Duty
		want string
	}{
		{"Implementor", Working, "[15m0s 45m0s 1h0m0s]"},  // a coder, coding
		{"Implementor", Reviewing, "[20m0s 35m0s 50m0s]"}, // a coder that waits for a review: its reviewer
		{"Architect", ReviewPhase, "[10m0s 20m0s 30m0s]"}, // a reviewer
		{"Architect", Working, "[12m0s 25m0s 40m0s]"},     // a Tech Lead
		{"Manager", Working, "[12m0s 25m0s 40m0s]"},       // the same
		{"of a reviewer", Working, "[10m0s 20m0s 30m0s]"}, // as: reviewer
		{"of its settings", ReviewPhase, "[1ns 2ns 3ns]"}, // stages: …
	} {
		r := roles.Role{Name: tt.role}
		p := &Player{Role: r, watch: config.Watch{Enabled: true}}
		switch tt.role {
		case "of a reviewer":
			p.Role.WatchAs = "reviewer"
		case "of its settings":
			p.watch.Policy.Stages = health.Stages{1, 2, 3}
		}
		if got := fmt.Sprint(p.Policy(tt.duty).Stages); got != tt.want {
			t.Errorf("%s, duty %d: %s, want %s", tt.role, tt.duty, got, tt.want)
		}
	}
}
