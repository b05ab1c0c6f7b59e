package modeltest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/testfile"
)

// Env returns the whole environment in which an agent's program (claude, codex, gemini or opencode)
// talks to this model alone, from a home that is removed after the test. No program calls home,
// updates itself or keeps temporary files elsewhere. claude and codex try a failed request twice.
func (s *Server) Env(t testing.TB, name string) []string {
	t.Helper()
	home := t.TempDir()
	temp := filepath.Join(home, "tmp")
	testfile.Write(t, filepath.Join(temp, ".keep"), "")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + temp, "LANG=C.UTF-8"}
	switch name {
	case "claude":
		return append(env, s.claude()...)
	case "codex":
		return append(env, s.codex(t, filepath.Join(home, "codex"))...)
	case "gemini":
		return append(env, s.gemini(t, home)...)
	case "opencode":
		return append(env, s.opencode(t, home)...)
	default:
		t.Fatalf("there is no agent %q", name)
		return nil
	}
}

func (s *Server) claude() []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + s.URL, "ANTHROPIC_API_KEY=sk-ant-dummy", "CLAUDE_CODE_MAX_RETRIES=1",
		"IS_SANDBOX=1", // else it does not skip permissions for root
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", // else several results may come
	}
}

// Subscribed replaces the key in claude's environment by a login: only then claude says when a
// spent allowance is renewed.
func Subscribed(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return strings.HasPrefix(e, "ANTHROPIC_API_KEY=")
	})
	return append(env, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy")
}

// codex warns and lacks its helpers when its home is in the temporary folder, which TMPDIR names.
func (s *Server) codex(t testing.TB, home string) []string {
	testfile.Write(t, filepath.Join(home, "config.toml"), fmt.Sprintf(`model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = "%s/v1"
env_key = "FAKE_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
`, s.URL))
	return []string{"CODEX_HOME=" + home, "FAKE_API_KEY=sk-dummy"}
}

// gemini takes the address of an API for a gateway unless its settings name the kind of key.
// Without a model's name it asks a model to choose, which this one cannot answer.
func (s *Server) gemini(t testing.TB, home string) []string {
	testfile.Write(t, filepath.Join(home, ".gemini", "settings.json"),
		`{"model":{"name":"gemini-2.5-flash"},"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
	return []string{"GEMINI_API_KEY=dummy-key", "GOOGLE_GEMINI_BASE_URL=" + s.URL, "GEMINI_CLI_TRUST_WORKSPACE=true",
		"GEMINI_CLI_NO_RELAUNCH=true"}
}

func (s *Server) opencode(t testing.TB, home string) []string {
	testfile.Write(t, filepath.Join(home, ".config", "opencode", "opencode.json"), fmt.Sprintf(`{
	"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
	"provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake",
		"options": {"baseURL": "%s/v1", "apiKey": "sk-dummy"},
		"models": {"fake-model": {"name": "fake", "limit": {"context": 200000, "output": 8192}}}}}
}`, s.URL))
	return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
}
