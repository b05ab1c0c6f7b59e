package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFate(t *testing.T) {
	for _, tt := range []struct {
		mode string
		want Fate
	}{
		{"leave", Fate{Code: 7, Told: true}},
		{"exit", Fate{Code: 5}},
		{"crash", Fate{Code: 2}},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			if got, _ := startGuarded(t, "guard", tt.mode).fate(); got != tt.want {
				t.Errorf("Guard(%s) = %+v, want %+v", tt.mode, got, tt.want)
			}
		})
	}
}

// TestRunnerIsTheSameProgram: also by its name, which some programs go by, and it has everything
// that the guardian has.
func TestRunnerIsTheSameProgram(t *testing.T) {
	g := startGuarded(t, "guard", "arguments", "a b", "")
	if got, want := g.line(), fmt.Sprintf("%q", []string{g.cmd.Path, RunnerCommand, "arguments", "a b", ""}); got != want {
		t.Errorf("the runner was started as %s, want %s", got, want)
	}
	if got := g.line(); got != "true hello" {
		t.Errorf("same group and environment: %s, want true hello", got)
	}
	_, _ = io.WriteString(g.stdin, "input\n")
	_ = g.stdin.Close()
	if got := g.line(); got != "input" {
		t.Errorf("the runner read %q, want input", got)
	}
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v", got)
	}
}

// TestProgramWasReplaced: an upgrade of the program while it runs.
func TestProgramWasReplaced(t *testing.T) {
	argv := helperArgv(t, "guard-short", "leave")
	old := filepath.Join(t.TempDir(), "old")
	text, err := os.ReadFile(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, text, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(old, argv[1:]...)
	cmd.Env = quiet(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(old); err != nil { // most likely before it has started its runner, and it waits 30 ms for that
		t.Fatal(err)
	}
	got, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(got), `"Code":7`) {
		t.Errorf("Guard = %s, %v, want code 7", got, err)
	}
}

// TestRunnerKilled: the agents of a runner that died are gone when the guardian is, whatever they
// tried.
func TestRunnerKilled(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			g := startGuarded(t, "guard", "agent", kind)
			runner := g.expectPid("joined ")
			pid := g.expectPid("")
			g.signal(runner, syscall.SIGKILL)
			got, pids := g.fate()
			if got != (Fate{Code: -1, Signal: syscall.SIGKILL}) {
				t.Errorf("fate = %+v, want killed", got)
			}
			for _, pid := range append(pids, pid) {
				if isAlive(pid) {
					t.Errorf("process %d outlived the guardian", pid)
				}
			}
		})
	}
}

// TestRunnerLeavesDaemons: a normal end is no reason to leave a process behind.
func TestRunnerLeavesDaemons(t *testing.T) {
	g := startGuarded(t, "guard", append([]string{"careless"}, kinds[:len(kinds)-1]...)...)
	var pids []int
	for range kinds[:len(kinds)-1] {
		pids = append(pids, g.expectPid(""))
	}
	g.expect("joined ")
	_ = g.stdin.Close()
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v, want 0, told", got)
	}
	for _, pid := range pids {
		if isAlive(pid) {
			t.Errorf("process %d outlived the guardian", pid)
		}
	}
}

// TestForkShortage: a system without processes for the moment is waited for.
func TestForkShortage(t *testing.T) {
	failures := 2
	subreaper.fork = func(name string, argv []string, attr *syscall.ProcAttr) (int, error) {
		if failures--; failures >= 0 {
			return 0, &os.PathError{Op: "fork/exec", Path: name, Err: syscall.EAGAIN}
		}
		return syscall.ForkExec(name, argv, attr)
	}
	t.Cleanup(func() { subreaper.fork = syscall.ForkExec })
	exit, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "exit", "3"), Env: quiet(t)})
	if err != nil || exit.Code != 3 || failures > 0 {
		t.Errorf("Run = %v, %v with %d failures to go, want exit status 3", exit, err, failures)
	}
	if got, _ := startGuarded(t, "guard-short", "leave").fate(); got != (Fate{Code: 7, Told: true}) {
		t.Errorf("Guard = %+v, want code 7", got)
	}
}

// TestInterruptedShortage: to wait for a free process can be interrupted.
func TestInterruptedShortage(t *testing.T) {
	g := startGuarded(t, "guard-starved", "leave")
	g.expect("no process")
	g.signal(g.cmd.Process.Pid, syscall.SIGTERM)
	line := g.line()
	for strings.HasPrefix(line, "no process") {
		line = g.line()
	}
	if want := `fate {"Code":-1,"Told":false,"Signal":0,"Asked":15} start the runner: resource temporarily unavailable`; line != want {
		t.Errorf("Guard says %s, want %s", line, want)
	}
}

// TestGuardianWithoutDescriptors: it does not take children that it cannot list for none.
func TestGuardianWithoutDescriptors(t *testing.T) {
	g := startGuarded(t, "poor-guard", "careless", "session", "nothing")
	pids := []int{g.expectPid(""), g.expectPid("")}
	g.expect("joined ")
	if err := unix.Prlimit(g.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 100}, nil); err != nil {
		t.Fatal(err)
	}
	_ = g.stdin.Close()
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v, want 0, told", got)
	}
	for _, pid := range pids {
		if isAlive(pid) {
			t.Errorf("process %d outlived the guardian", pid)
		}
	}
}
