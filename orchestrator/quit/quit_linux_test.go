package quit_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"kanban-run/orchestrator/quit"
)

func TestMain(m *testing.M) {
	mode := os.Getenv("QUIT_TEST")
	switch mode {
	case "":
		os.Exit(m.Run())
	case "catch":
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGQUIT)
		quit.Catch()
		raise()
		<-caught
	default:
		raise()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func raise() { _ = syscall.Kill(os.Getpid(), syscall.SIGQUIT) }

// TestQuit: SIGQUIT ends a process by the signal, without a word, unless the process catches it.
func TestQuit(t *testing.T) {
	for mode, want := range map[string]syscall.Signal{"early": syscall.SIGQUIT, "catch": -1} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env, cmd.Dir = append(os.Environ(), "QUIT_TEST="+mode), t.TempDir()
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr, cmd.Stdin = &out, &out, strings.NewReader("")
		err := cmd.Run()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != want || out.Len() > 0 {
			t.Errorf("%s: it ended by %v (%v), want %v; it said %.200q, want nothing", mode, got, cmd.ProcessState, want, out.String())
		}
	}
}
