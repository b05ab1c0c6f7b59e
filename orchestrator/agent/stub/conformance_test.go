package stub_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/agenttest"
	"kanban-run/orchestrator/agent/stub"
)

// TestMain plays the stub agents, as kanban-run itself does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == stub.Command {
		os.Exit(stub.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func writeFile(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConformance(t *testing.T) {
	agenttest.Conformance(t, agenttest.Harness{
		Agent: func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment) {
			rules := strings.Join(append([]string{"- do: " + do}, more...), "\n  ") + "\n"
			file := writeFile(t, filepath.Join(t.TempDir(), "stub.yaml"), rules)
			// The race detector's second of waiting and the coverage tool's warning stay out of the
			// agents.
			env := []string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}
			return stub.New(self(t), stub.Options{File: file}), agent.Assignment{Role: "Implementor", Env: env}
		},
	})
}

// TestCheck: a fault of the stub's own file is found before anything is started.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	bad := writeFile(t, filepath.Join(dir, "bad.yaml"), "- {do: dance}\n")
	for _, tt := range []struct{ name, executable, file, text, hint string }{
		{"no program", filepath.Join(dir, "gone"), "", "cannot start", ""},
		{"no rules", self(t), filepath.Join(dir, "gone"), "stub file", "schema stub"},
		{"bad rules", self(t), bad, `[0].do is "dance", want reply`, "schema stub"},
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
