package agent_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"kanban-run/orchestrator/agent/stub"
)

// TestMain plays the agents: stub agents as kanban-run itself does, and one that is deaf.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case stub.Command:
			os.Exit(stub.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "deaf-agent":
			fmt.Println(`{"status":"ok","message":"not listening"}`)
			os.Exit(0)
		}
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
