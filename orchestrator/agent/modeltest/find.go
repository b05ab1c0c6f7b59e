package modeltest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is the package of an agent's program, with its tested version.
type program struct {
	group   string // name of its folder in .ci/agents
	pkg     string
	version string
}

func programs(name string) (program, bool) {
	p, ok := map[string]program{
		"claude":   {"claude-codex", "@anthropic-ai/claude-code", "2.1.328"},
		"codex":    {"claude-codex", "@openai/codex", "0.169.0"},
		"gemini":   {"gemini-opencode", "@google/gemini-cli", "0.61.0"},
		"opencode": {"gemini-opencode", "opencode-ai", "1.18.33"},
	}[name]
	return p, ok
}

// Find returns the path of claude, codex, gemini or opencode in its tested version. It looks first
// for the program that .ci/agents/install has installed, and then in PATH. If it finds neither, the
// test is skipped, or fails if KANBAN_TEST_REQUIRE_AGENTS is set. If this variable is "none", every
// test that calls Find is skipped. Tests of gemini and opencode, which are slow, run only if the
// variable is "all".
func Find(t testing.TB, name string) string {
	t.Helper()
	p, known := programs(name)
	if !known {
		t.Fatalf("there is no agent %q", name)
	}
	required := os.Getenv("KANBAN_TEST_REQUIRE_AGENTS")
	if required == "none" || p.group != "claude-codex" && required != "all" {
		t.Skipf("SKIPPED, the real agent is not tested: make test-agents does")
	}
	if path, found := p.cached(name); found {
		return path
	}
	if path, found := p.inPath(name); found {
		return path
	}
	const text = "%s %s is not installed: hint: .ci/agents/install %s"
	if required != "" {
		t.Fatalf(text, name, p.version, p.group)
	}
	t.Skipf("SKIPPED, the real agent is not tested: "+text, name, p.version, p.group)
	return ""
}

// cacheFolder returns the folder into which .ci/agents/install installs.
func cacheFolder() string {
	if dir := os.Getenv("KANBAN_TEST_AGENTS"); dir != "" {
		return dir
	}
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		base = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	return filepath.Join(base, "kanban-run", "agents")
}

func (p program) cached(name string) (path string, found bool) {
	modules := filepath.Join(cacheFolder(), p.group, "node_modules")
	data, err := os.ReadFile(filepath.Join(modules, filepath.FromSlash(p.pkg), "package.json"))
	var about struct {
		Version string `json:"version"`
	}
	if err != nil || json.Unmarshal(data, &about) != nil || about.Version != p.version {
		return "", false
	}
	path, err = filepath.Abs(filepath.Join(modules, ".bin", name))
	if err != nil {
		return "", false
	}
	_, err = os.Stat(path)
	return path, err == nil
}

func (p program) inPath(name string) (path string, found bool) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", false
	}
	said, err := exec.Command(path, "--version").Output()
	return path, err == nil && strings.Contains(" "+strings.ReplaceAll(string(said), "\n", " ")+" ", " "+p.version+" ")
}
