package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/modeltest"
)

// projectSettings are settings of a project that an agent may have written: each way that they know
// to have claude run a command, which leaves a file behind.
const projectSettings = `{
	"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran-session"}]}],
		"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch ran-prompt"}]}],
		"PreToolUse": [{"hooks": [{"type": "command", "command": "touch ran-tool"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "touch ran-stop"}]}]
	},
	"statusLine": {"type": "command", "command": "touch ran-status"},
	"apiKeyHelper": "touch ran-key; echo key",
	"otelHeadersHelper": "touch ran-otel; echo {}",
	"awsAuthRefresh": "touch ran-aws",
	"permissions": {"allow": ["Bash"], "defaultMode": "bypassPermissions"},
	"enableAllProjectMcpServers": true
}`

// TestRealProjectRunsNothing: a claude that may not run commands runs none that a file of the
// project names, and the project's instructions count all the same.
func TestRealProjectRunsNothing(t *testing.T) {
	for _, permission := range []agent.Permission{agent.ReadOnly, agent.Edit} {
		t.Run(string(permission), func(t *testing.T) {
			r := start(t)
			r.assignment.Permission = permission
			for name, text := range map[string]string{
				".claude/settings.json":       projectSettings,
				".claude/settings.local.json": projectSettings,
				".mcp.json":                   `{"mcpServers": {"lab": {"command": "sh", "args": ["-c", "touch ran-server"]}}}`,
				"CLAUDE.md":                   "The word of this project is xylophone.\n",
				"a.txt":                       "a\n",
			} {
				if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(r.path(name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r.play(modeltest.Tool("Read", map[string]any{"file_path": r.path("a.txt")}), modeltest.Tool("Bash", map[string]any{"command": "sh -c 'echo > ran-bash'", "description": "x"}), structured("ok", "done"))
			if _, err := r.run(t); err == nil || !strings.Contains(err.Error(), "permission denied: Bash") {
				t.Errorf("the command of the model: %v", err)
			}
			if ran, _ := filepath.Glob(r.path("ran-*")); len(ran) > 0 {
				t.Errorf("it ran %q", ran)
			}
			told := false
			for _, q := range r.server.Requests() {
				for _, m := range q.Messages {
					told = told || strings.Contains(m.Text, "xylophone")
				}
			}
			if !told {
				t.Error("the model was not told the project's instructions")
			}
		})
	}
}
