package codex

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/plainfile"
)

// maxSettings bounds codex's file of settings, in bytes.
const maxSettings = 1 << 20

// byPath tells whether the user trusts a folder, without which codex reads no settings of a project that has some.
func byPath(a agent.Assignment, dir string) string {
	if _, err := os.Stat(filepath.Join(dir, ".codex", "config.toml")); err != nil {
		return ""
	}
	folder := cmp.Or(agent.Getenv(a.Env, "CODEX_HOME"), filepath.Join(agent.Getenv(a.Env, "HOME"), ".codex"))
	text, err := plainfile.Read(filepath.Join(folder, "config.toml"), maxSettings)
	if err != nil || !strings.Contains(string(text), "[projects."+strconv.Quote(dir)+"]") {
		return ""
	}
	return "your trust, so that .codex/config.toml counts (what is in your own config.toml counts everywhere)"
}
