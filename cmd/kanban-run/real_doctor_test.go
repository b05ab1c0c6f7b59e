//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent/claude"
)

// doctor runs `check --agents`.
func (s *realSite) doctor(args ...string) (said string, code int) {
	s.t.Helper()
	cmd := s.command(nil, append([]string{"check", "--agents"}, args...)...)
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		s.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestRealDoctor: the tool is there, of the version that the adapter was tested with, and has all
// options; the model is asked for nothing.
func TestRealDoctor(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		said, code := s.doctor("--agent", name)
		if code != exitComplete || !strings.Contains(said, ", the version that kanban-run was tested with") || !strings.Contains(said, "agents: 0 errors, 0 warnings") {
			t.Errorf("exit code %d: %s", code, said)
		}
		if n := len(s.model.Requests()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	}, "acp") // may be any program
}

// TestDoctor: what a program says of itself is compared with what the adapter needs.
func TestDoctor(t *testing.T) {
	help := "echo '" + strings.Join(claude.New().Tool().Options, " ") + "'"
	for _, tt := range []struct {
		name, script, says string
		code               int
	}{
		{"right", `case $1 in --version) echo 2.1.328 "(Claude Code)";; *) ` + help + `;; esac`, "claude 2.1.328 at ", exitComplete},
		{"another version", `case $1 in --version) echo 2.2.0;; *) ` + help + `;; esac`, "warning: Architect, Implementor, Manager, Supervisor: claude 2.2.0 at ", exitComplete},
		{"help on standard error", `case $1 in --version) echo 2.1.328;; *) ` + help + ` >&2;; esac`, "0 errors", exitComplete},
		{"lacks an option", `case $1 in --version) echo 1.0.0;; *) echo --print --output-format --tools-of-another-kind;; esac`, "has no --input-format, --verbose, --include-partial-messages, --model", exitInvalid},
		{"broken", `echo it hurts; exit 3`, "claude --version: exit status 3", exitInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &realSite{site: newSite(t, built(t, buildPlain), 1), name: "claude"}
			s.write("bin/claude", "#!/bin/sh\n"+tt.script+"\n")
			must(t, exec.Command("chmod", "+x", s.path("bin/claude")).Run())
			s.env = []string{"PATH=" + s.path("bin") + ":" + "/usr/bin:/bin", "IS_SANDBOX=1"}
			said, code := s.doctor()
			if code != tt.code || !strings.Contains(said, tt.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tt.code, tt.says, said)
			}
		})
	}
	s := &realSite{site: newSite(t, built(t, buildPlain), 1)}
	s.env = []string{"PATH=" + filepath.Dir(s.binary)}
	if said, code := s.doctor("kanban.yaml"); code != exitInvalid || strings.Count(said, "npm install -g @anthropic-ai/claude-code") < 1 {
		t.Errorf("exit code %d without claude: %s", code, said)
	}
	if said, code := s.doctor("--agent", "stub"); code != exitComplete || !strings.Contains(said, "nothing is known of its version") {
		t.Errorf("exit code %d with stubs: %s", code, said)
	}
}
