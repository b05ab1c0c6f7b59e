package agenttest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"kanban-run/orchestrator/agent/stub"
)

// Main is the TestMain of an adapter's tests. The test binary plays the stub or the program that
// its first argument names. Without such an argument it runs the tests, and then looks for
// goroutines that are left over. Main returns the exit status.
func Main(m *testing.M, programs map[string]func(args []string) int) int {
	if len(os.Args) > 1 {
		if os.Args[1] == stub.Command {
			return Play(os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
		}
		if play := programs[os.Args[1]]; play != nil {
			return play(os.Args[2:])
		}
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// Self returns the path of the test binary.
func Self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// QuietEnv returns an environment for an agent that is the test binary. In this environment the
// race detector does not delay the agent's exit by a second, and the coverage tool prints no
// warning.
func QuietEnv(t testing.TB, more ...string) []string {
	t.Helper()
	return append([]string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}, more...)
}
