package opencode_test

import (
	"testing"

	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/agent/opencode"
)

// TestRealProjectRunsNothing: an opencode that only reads runs no plugin and no command that a file
// of the project names.
func TestRealProjectRunsNothing(t *testing.T) {
	streamtest.RunsNothing(t, streamtest.Start(t, "opencode", opencode.New()), map[string]string{
		".git/HEAD":               "ref: refs/heads/main\n",
		"opencode.json":           `{"$schema": "https://opencode.ai/config.json", "mcp": {"lab": {"type": "local", "command": ["sh", "-c", "touch DIR/ran-server"], "enabled": true}}, "plugin": ["./own.js"]}`,
		"own.js":                  "import { writeFileSync } from \"fs\"\nexport const Own = async () => { writeFileSync(\"DIR/ran-own\", \"\"); return {} }\n",
		".opencode/plugin/one.js": "import { writeFileSync } from \"fs\"\nexport const One = async () => { writeFileSync(\"DIR/ran-plugin\", \"\"); return {} }\n",
		".opencode/tool/two.js":   "import { writeFileSync } from \"fs\"\nwriteFileSync(\"DIR/ran-tool\", \"\")\nexport default { description: \"two\", args: {}, async execute() { return \"\" } }\n",
		"AGENTS.md":               "The word of this project is xylophone.\n",
	}, "xylophone")
}
