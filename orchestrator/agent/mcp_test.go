package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/testfile"
)

// TestServers: what no agent could use as a file of MCP servers is refused, with an example of one.
func TestServers(t *testing.T) {
	endless := testfile.Write(t, filepath.Join(t.TempDir(), "mcp.json"), "")
	if err := os.Truncate(endless, 1<<40); err != nil {
		t.Skipf("no sparse file of 1 TiB: %v", err)
	}
	for _, tt := range []struct{ name, path, want string }{
		{"a folder", t.TempDir(), "it is not a regular file"},
		{"a file without an end, as far as can be seen", endless, "it is larger than 1 MiB"},
		{"no JSON", testfile.Write(t, filepath.Join(t.TempDir(), "mcp.json"), "lab\n"), "invalid character"},
		{"no servers", testfile.Write(t, filepath.Join(t.TempDir(), "mcp.json"), "{}\n"), `there are no "mcpServers" in it`},
	} {
		for _, text := range [][]byte{nil, agent.ReadMCP(tt.path)} {
			_, err := agent.Assignment{Options: agent.Options{MCP: tt.path}, MCPText: text}.Servers()
			config, ok := errors.AsType[*agent.ConfigError](err)
			if !ok || !strings.HasPrefix(err.Error(), "mcp_config cannot be read: ") || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(config.Hint(), `name a file like {"mcpServers": `) {
				t.Errorf("%s: Servers() = %v, want %q with an example as the hint", tt.name, err, tt.want)
			}
		}
	}
}
