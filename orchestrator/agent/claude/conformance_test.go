package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/agenttest"
	"kanban-run/orchestrator/agent/claude"
)

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// quiet keeps the race detector's second of waiting and the coverage tool's warning out of the
// agents.
func quiet(t testing.TB) []string {
	t.Helper()
	return []string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir(), "IS_SANDBOX=1"}
}

func TestConformance(t *testing.T) {
	agenttest.Conformance(t, agenttest.Harness{
		Agent: func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment) {
			rules := filepath.Join(t.TempDir(), "stub.yaml")
			lines := append([]string{"- do: " + do}, more...)
			if err := os.WriteFile(rules, []byte(strings.Join(lines, "\n  ")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			return claude.New(), agent.Assignment{Role: "Implementor", Env: quiet(t), Command: []string{self(t), "fake-claude", rules}}
		},
		Deaf: func(t *testing.T) (agent.Adapter, agent.Assignment) {
			return claude.New(), agent.Assignment{Role: "Implementor", Env: quiet(t), Command: []string{self(t), "deaf-claude"}}
		},
		Stream: true,
		Reasons: map[string]string{
			"empty":        "the reply is empty",
			"invalid-utf8": "lines of its output that could not be read: 1",
			"huge":         "a line of its output was too long to be read",
		},
		Accepts: []string{"fence"},
	})
}
