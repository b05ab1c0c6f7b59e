package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/testfile"
)

// TestToolStart: the tool's own program, or the role's command with what stands behind it.
func TestToolStart(t *testing.T) {
	dir := t.TempDir()
	program := testfile.Write(t, filepath.Join(dir, "bin", "tool"), "#!/bin/sh\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	tool := agent.Tool{Program: "tool", Install: "get tool"}
	for _, tt := range []struct{ command, want []string }{
		{nil, []string{program}},
		{[]string{""}, []string{program}},
		{[]string{program, "--fast"}, []string{program, "--fast"}},
	} {
		got, err := tool.Start(agent.Assignment{Command: tt.command, Dir: dir})
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Start(%q) = %q, %v, want %q", tt.command, got, err, tt.want)
		}
	}
	command := []string{"tool", "a"}
	if got, err := tool.Start(agent.Assignment{Command: command, Dir: dir}); err != nil || got[0] != program || command[0] != "tool" {
		t.Errorf("Start = %q, %v, and the role has %q, want its own words left alone", got, err, command)
	}
	var config *agent.ConfigError
	_, err := agent.Tool{Program: "gone", Install: "get gone"}.Start(agent.Assignment{Dir: dir})
	if !errors.As(err, &config) || !strings.Contains(config.Text, "gone") || !strings.Contains(config.Fix, "get gone") || !strings.Contains(config.Fix, "--dry-run") {
		t.Errorf("Start = %+v, want how it is installed, and that a dry run needs it not", err)
	}
}

// TestSupport: each option is refused that a program does not support, by the name that it has in a
// role file, and no other.
func TestSupport(t *testing.T) {
	full := agent.Assignment{Review: true, Options: agent.Options{MaxTurns: 1, MaxCost: 1, MCP: "m", Permission: agent.Edit, Model: "m", Tools: []string{}, Denied: []string{"x"}}}
	all := []string{"review", "model", "tools", "max_turns", "max_cost", "mcp_config", "permission", "disallowedTools"}
	var config *agent.ConfigError
	if err := full.Support("a stone"); !errors.As(err, &config) || config.Text != "a stone does not support "+strings.Join(all, ", ") {
		t.Errorf("Support = %v, want all of %q to be refused", err, all)
	}
	for i, name := range all {
		others := slices.Delete(slices.Clone(all), i, i+1)
		if err := full.Support("a stone", others...); err == nil || !strings.HasSuffix(err.Error(), "support "+name) {
			t.Errorf("Support = %v, want only %s to be refused", err, name)
		}
	}
	if err := (agent.Assignment{}).Support("a stone"); err != nil {
		t.Errorf("Support = %v, want nil of an assignment without options", err)
	}
	if err := full.Support("a person", all...); err != nil {
		t.Errorf("Support = %v, want nil where all is supported", err)
	}
}

// TestExecRefuses: a limit that an agent would ignore is an error.
func TestExecRefuses(t *testing.T) {
	a := agent.Assignment{Command: []string{"/bin/true"}, Dir: t.TempDir()}
	if err := agent.Exec().Check(a); err != nil {
		t.Fatalf("Check = %v", err)
	}
	a.MaxCost = 1
	if err := agent.Exec().Check(a); err == nil || !strings.Contains(err.Error(), "max_cost") {
		t.Errorf("Check = %v, want max_cost to be refused", err)
	}
}
