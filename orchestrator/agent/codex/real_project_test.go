package codex_test

import (
	"testing"

	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/agent/internal/streamtest"
)

// TestRealProjectRunsNothing: a codex that only reads runs no command that a file of the
// project names, unless its user has said to trust the project.
func TestRealProjectRunsNothing(t *testing.T) {
	r := streamtest.Start(t, "codex", codex.New())
	streamtest.RunsNothing(t, r, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n",
		".codex/config.toml": `notify = ["touch", "DIR/ran-notify"]
[mcp_servers.lab]
command = "sh"
args = ["-c", "touch DIR/ran-server"]
[features]
codex_hooks = true
`,
		".codex/hooks.json": `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch DIR/ran-hook"}]}], "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch DIR/ran-prompt"}]}]}}`,
		"AGENTS.md":         "The word of this project is xylophone.\n",
	}, "xylophone")
}
