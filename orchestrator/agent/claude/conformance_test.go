package claude_test

import (
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/agent/internal/agenttest"
)

func TestConformance(t *testing.T) {
	agenttest.Conformance(t, agenttest.Harness{
		Agent: func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment) {
			return claude.New(), agent.Assignment{Role: "Implementor", Env: agenttest.QuietEnv(t, "IS_SANDBOX=1"), Command: []string{agenttest.Self(t), "fake-claude", agenttest.Rules(t, do, more...)}}
		},
		Deaf: func(t *testing.T) (agent.Adapter, agent.Assignment) {
			return claude.New(), agent.Assignment{Role: "Implementor", Env: agenttest.QuietEnv(t, "IS_SANDBOX=1"), Command: []string{agenttest.Self(t), "deaf-claude"}}
		},
		Stream: true,
		Reasons: map[string]string{
			"empty":        "the reply is empty",
			"invalid-utf8": "lines of its output that could not be read: 1",
			"huge":         "a line of its output was too long to be read",
		},
		Accepts: []string{"fence", "trailing-text", "ok-exit-1"},
	})
}
