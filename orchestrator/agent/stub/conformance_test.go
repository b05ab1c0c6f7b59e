package stub_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/internal/agenttest"
	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/testfile"
)

// TestMain plays the stub agents, as kanban-run itself does.
func TestMain(m *testing.M) { os.Exit(agenttest.Main(m, nil)) }

func TestConformance(t *testing.T) {
	agenttest.Conformance(t, agenttest.Harness{
		Agent: func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment) {
			return stub.New(agenttest.Self(t), stub.Options{File: agenttest.Rules(t, do, more...)}), agent.Assignment{Role: "Implementor", Env: agenttest.QuietEnv(t)}
		},
	})
}

// TestCheck: a fault of the stub's own file is found before anything is started.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	bad := testfile.Write(t, filepath.Join(dir, "bad.yaml"), "- {do: dance}\n")
	for _, tt := range []struct{ name, executable, file, text, hint string }{
		{"no program", filepath.Join(dir, "gone"), "", "cannot start", ""},
		{"no rules", agenttest.Self(t), filepath.Join(dir, "gone"), "stub file", "schema stub"},
		{"bad rules", agenttest.Self(t), bad, `[0].do is "dance", want reply`, "schema stub"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := stub.New(tt.executable, stub.Options{File: tt.file}).Check(agent.Assignment{Dir: dir})
			config, ok := err.(*agent.ConfigError)
			if !ok || !strings.Contains(err.Error(), tt.text) || !strings.Contains(config.Hint(), tt.hint) {
				t.Errorf("Check = %v (%T), want a *ConfigError with %q and the hint %q", err, err, tt.text, tt.hint)
			}
		})
	}
}
