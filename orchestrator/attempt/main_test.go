package attempt_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"kanban-run/orchestrator/proc"
)

// TestMain plays the residents: test-binary resident.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "resident" {
		os.Exit(playResident(os.Args[2:]))
	}
	if err := proc.Adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
