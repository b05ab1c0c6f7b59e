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
// talks only to this model. The program's home and its temporary files are removed after the test.
// No program contacts its maker or updates itself. claude and codex try a failed request twice.
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
		"IS_SANDBOX=1", // otherwise claude does not skip permissions for root
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", // otherwise claude may print several results
	}
}

// Subscribed returns claude's environment with a login in place of the key. With a key claude does
// not report the time at which a spent allowance is renewed.
func Subscribed(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return strings.HasPrefix(e, "ANTHROPIC_API_KEY=")
	})
	return append(env, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy")
}

// codex returns variables for codex, and writes its settings to the given folder. This folder must
// not be in the folder TMPDIR, because codex would then print a warning and lack its helpers.
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

// gemini returns variables for gemini, and writes its settings. If the settings did not name the
// kind of key, gemini would treat the address as a gateway. If they did not name a model, gemini
// would ask the model to choose one, which the fake model cannot do.
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
