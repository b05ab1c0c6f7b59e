package modeltest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/modeltest"
)

// cli is a real program with a fake model, in a work directory of its own.
type cli struct {
	path   string
	dir    string
	env    []string
	server *modeltest.Server
}

func start(t *testing.T, name string) cli {
	t.Helper()
	path := modeltest.Find(t, name)
	t.Parallel()
	s := modeltest.Start(t)
	dir := t.TempDir()
	return cli{path: path, dir: dir, env: s.Env(t, name), server: s}
}

// output is the outcome of a run.
type output struct {
	lines  []object // of standard output
	stderr string
	code   int // 128 and the signal's number where one ended it
}

type object = map[string]any

// run passes a script by standard input, between words for people.
func (c cli) run(t *testing.T, script modeltest.Script, args ...string) output {
	t.Helper()
	return c.begin(t, "Please do your task.\n\n    "+script.String()+"\n\nThank you.\n", args...)(0)
}

// begin starts the program and returns a function that sends a signal to its group, unless that is
// 0, waits for the end and checks that nothing of the group is left.
func (c cli) begin(t *testing.T, prompt string, args ...string) func(syscall.Signal) output {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, c.env, strings.NewReader(prompt), &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func(sig syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, sig) }
	cmd.Cancel = func() error { return kill(syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func(sig syscall.Signal) output {
		t.Helper()
		if sig != 0 {
			_ = kill(sig)
		}
		limit := time.AfterFunc(time.Minute, func() { _ = kill(syscall.SIGKILL) })
		defer limit.Stop()
		if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		_ = kill(syscall.SIGKILL)
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		r := output{stderr: stderr.String(), code: status.ExitStatus()}
		if status.Signaled() {
			r.code = 128 + int(status.Signal())
		}
		r.lines = decode(t, stdout.String())
		return r
	}
}

func decode(t *testing.T, stdout string) []object {
	t.Helper()
	var all []object
	for line := range strings.Lines(stdout) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Errorf("standard output has the line %q, want JSON", line)
		}
		all = append(all, o)
	}
	return all
}

// lookUp follows keys into objects; a missing one is nil.
func lookUp(o any, keys ...string) any {
	for _, k := range keys {
		m, ok := o.(object)
		if !ok {
			return nil
		}
		o = m[k]
	}
	return o
}

// lastLine returns the last line of a type, and of a subtype unless that is "".
func (s output) lastLine(kind, subtype string) object {
	for i := len(s.lines) - 1; i >= 0; i-- {
		if l := s.lines[i]; l["type"] == kind && (subtype == "" || l["subtype"] == subtype) {
			return l
		}
	}
	return nil
}

func (s output) count(kind, subtype string) int {
	n := 0
	for _, l := range s.lines {
		if l["type"] == kind && (subtype == "" || l["subtype"] == subtype) {
			n++
		}
	}
	return n
}

// wantFile checks the text of a file in the work directory; "" is no such file.
func (c cli) wantFile(t *testing.T, name, text string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if text == "" && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || string(data) != text {
		t.Errorf("file %s = %q, %v, want %q", name, data, err, text)
	}
}

// wantKnown checks that the program uses known endpoints only: with others a new version may behave
// as if it were offline.
func (c cli) wantKnown(t *testing.T) {
	t.Helper()
	if unknown := c.server.Unknown(); len(unknown) > 0 {
		t.Errorf("the program asked of endpoints that the model lacks: %q", unknown)
	}
}

// want compares values of a run with the expected ones, by name.
func want(t *testing.T, r output, pairs ...any) {
	t.Helper()
	for i := 0; i+2 < len(pairs); i += 3 {
		if pairs[i+1] != pairs[i+2] {
			t.Errorf("%s = %v, want %v", pairs[i], pairs[i+1], pairs[i+2])
		}
	}
	if t.Failed() {
		t.Logf("exit code %d, stderr %s", r.code, r.stderr)
		for _, l := range r.lines {
			text, _ := json.Marshal(l)
			t.Logf("%.800s", text)
		}
	}
}

// waitFor waits for a file that a tool makes, the only sign of a running tool.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s was not made within a minute", path)
}
