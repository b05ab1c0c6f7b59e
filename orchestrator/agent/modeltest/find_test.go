package modeltest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/testfile"
)

const agents = "../../../.ci/agents"

// TestPins: the installed versions are those that Find looks for, and no lockfile names a registry.
func TestPins(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini", "opencode"} {
		p, _ := programs(name)
		var about struct {
			Dependencies map[string]string `json:"dependencies"`
		}
		read(t, p.group, "package.json", &about)
		if got := about.Dependencies[p.pkg]; got != p.version {
			t.Errorf("%s/package.json pins %s %s, want %s", p.group, p.pkg, got, p.version)
		}
		var lock struct {
			Packages map[string]struct {
				Version, Integrity, Resolved string
			} `json:"packages"`
		}
		text := read(t, p.group, "package-lock.json", &lock)
		if got := lock.Packages["node_modules/"+p.pkg]; got.Version != p.version || got.Integrity == "" {
			t.Errorf("%s/package-lock.json has %s %+v, want %s with its checksum", p.group, p.pkg, got, p.version)
		}
		if strings.Contains(text, "://") {
			t.Errorf("%s/package-lock.json names where packages come from", p.group)
		}
	}
}

func read(t *testing.T, group, name string, into any) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(agents, group, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCached(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KANBAN_TEST_AGENTS", dir)
	p, _ := programs("claude")
	if path, found := p.cached("claude"); found {
		t.Errorf("cached = %s, want none in an empty cache", path)
	}
	modules := filepath.Join(dir, "claude-codex", "node_modules")
	about := filepath.Join(modules, "@anthropic-ai", "claude-code", "package.json")
	testfile.Write(t, filepath.Join(modules, ".bin", "claude"), "")
	testfile.Write(t, about, `{"version":"2.1.197"}`)
	if path, found := p.cached("claude"); found {
		t.Errorf("cached = %s, want none of another version", path)
	}
	testfile.Write(t, about, `{"version":"`+p.version+`"}`)
	if path, found := p.cached("claude"); path != filepath.Join(modules, ".bin", "claude") || !found {
		t.Errorf("cached = %s, %t, want the one in %s", path, found, modules)
	}
}
