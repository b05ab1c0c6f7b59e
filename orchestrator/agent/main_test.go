package agent_test

import (
	"fmt"
	"os"
	"testing"

	"kanban-run/orchestrator/agent/internal/agenttest"
)

// TestMain also plays an agent that is deaf.
func TestMain(m *testing.M) {
	os.Exit(agenttest.Main(m, map[string]func([]string) int{"deaf-agent": func([]string) int {
		fmt.Println(`{"status":"ok","message":"not listening"}`)
		return 0
	}}))
}
