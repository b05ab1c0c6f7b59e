//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
)

// TestRealMCPTool: a tool of a server that the role names is called,
// whatever the agent may do else.
func TestRealMCPTool(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	for _, name := range []string{"claude", "codex"} {
		for _, permission := range []string{"", "permission: edit\n", "permission: full\n"} {
			t.Run(name+" "+strings.TrimSpace(permission), func(t *testing.T) {
				t.Parallel()
				s := newReal(t, name, 1)
				s.write("mcp.json", fmt.Sprintf(`{"mcpServers": {"lab": {"command": %q, "args": [%q, %q]}}}`, self, labCommand, s.path("noted")))
				s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\nmcp_config: mcp.json\n"+permission+"---\nWork.\n")
				s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
					if taskOf(said) != "" {
						return modeltest.Play(modeltest.Tool("mcp__lab__note", map[string]any{"text": "from " + name}), modeltest.Structured(reply("ok", "Noted."))), true
					}
					return s.work(q, said)
				})
				s.run(exitComplete)
				if got := s.read("noted"); got != "from "+name {
					t.Errorf("the tool noted %q\n%s", got, s.asked())
					for _, q := range s.model.Requests() {
						t.Log(q.Tools)
					}
				}
			})
		}
	}
}
