package claude

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/plainfile"
)

// maxSettings bounds claude's file of settings, in bytes.
const maxSettings = 16 << 20

// byPath names the MCP servers that "claude mcp add" has added for a folder.
func byPath(a agent.Assignment, dir string) string {
	text, err := plainfile.Read(filepath.Join(cmp.Or(agent.Getenv(a.Env, "CLAUDE_CONFIG_DIR"), agent.Getenv(a.Env, "HOME")), ".claude.json"), maxSettings)
	var settings struct {
		Projects map[string]struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		} `json:"projects"`
	}
	if err != nil || json.Unmarshal(text, &settings) != nil || a.MCP != "" { // no others count beside mcp_config
		return ""
	}
	if names := slices.Sorted(maps.Keys(settings.Projects[dir].Servers)); len(names) > 0 {
		return "the MCP servers " + strings.Join(names, ", ") + " (mcp_config in a role names such)"
	}
	return ""
}
