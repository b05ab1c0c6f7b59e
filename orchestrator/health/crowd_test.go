package health_test

import (
	"testing"
	"time"

	"kanban-run/orchestrator/health"
)

// TestCrowd is seed 000, "REPLAN": several members meet the same problem at the same time.
func TestCrowd(t *testing.T) {
	var c health.Crowd
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for i, tt := range []struct {
		board, key string
		after      time.Duration
		want       bool
	}{
		{"a", "MCP stuck db", 0, false},
		{"a", "MCP stuck db", time.Minute, false},
		{"b", "MCP stuck web", 2 * time.Minute, false},
		{"b", "MCP stuck db", 3 * time.Minute, true},
		{"a", "MCP stuck db", 4 * time.Minute, true},
		{"c", "MCP stuck web", 17 * time.Minute, false},
		{"c", "MCP stuck web", 40 * time.Minute, false},
	} {
		if got := c.Note(tt.board, tt.key, at.Add(tt.after)); got != tt.want {
			t.Errorf("%d: %s has %s: %v, want %v", i, tt.board, tt.key, got, tt.want)
		}
	}
}
