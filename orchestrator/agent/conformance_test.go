package agent_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/internal/agenttest"
	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/testfile"
)

func TestExecConformance(t *testing.T) {
	agenttest.Conformance(t, agenttest.Harness{
		Agent: func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment) {
			return agent.Exec(), agent.Assignment{Role: "Implementor", Env: agenttest.QuietEnv(t), Command: []string{agenttest.Self(t), stub.Command},
				Args: []string{"--role", "Implementor", "--file", agenttest.Rules(t, do, more...)}}
		},
		Deaf: func(t *testing.T) (agent.Adapter, agent.Assignment) {
			return agent.Exec(), agent.Assignment{Role: "Implementor", Env: agenttest.QuietEnv(t), Command: []string{agenttest.Self(t), "deaf-agent"}}
		},
	})
}

// TestCheck: what can be wrong is found before anything is started.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "script"), "#!/bin/sh\n")
	for _, tt := range []struct {
		name       string
		command    []string
		text, hint string
	}{
		{"no command", nil, "no command is set", "--exec"},
		{"an empty command", []string{""}, "no command is set", "--exec"},
		{"a command that is nowhere", []string{"no-such-agent"}, "cannot start no-such-agent", "install it"},
		{"a script that is not executable", []string{"./script"}, "cannot start ./script: permission denied", "chmod +x ./script"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := agent.Exec().Check(agent.Assignment{Command: tt.command, Dir: dir})
			config, ok := err.(*agent.ConfigError)
			if !ok || !strings.Contains(err.Error(), tt.text) || !strings.Contains(config.Hint(), tt.hint) {
				t.Errorf("Check = %v (%T), want a *ConfigError with %q and the hint %q", err, err, tt.text, tt.hint)
			}
		})
	}
}

// TestExecInvoke: the arguments follow the command, and nothing else does.
func TestExecInvoke(t *testing.T) {
	a := agent.Assignment{Role: "r", Prompt: "p", Options: agent.Options{Model: "m", Tools: []string{"t"}}, Command: []string{agenttest.Self(t), "a b"}, Args: []string{"-c"}}
	inv, err := agent.Exec().Invoke(a)
	if got, want := fmt.Sprintf("%q", inv.Argv), fmt.Sprintf("%q", []string{agenttest.Self(t), "a b", "-c"}); err != nil || got != want {
		t.Errorf("Invoke = %s, %v, want %s", got, err, want)
	}
}

// TestDigest: every part counts, and none can pass for another.
func TestDigest(t *testing.T) {
	seen := map[string]int{}
	for i, inv := range []agent.Invocation{
		{},
		{Argv: []string{""}},
		{Argv: []string{"ab"}},
		{Argv: []string{"a", "b"}},
		{Argv: []string{"a"}, Env: []string{"b"}},
		{Env: []string{"a", "b"}},
		{Argv: []string{"a"}, Stdin: []byte("b")},
		{Argv: []string{"a"}, Dir: "b"},
	} {
		digest := inv.Digest()
		if other, twice := seen[digest]; twice {
			t.Errorf("Digest() of invocations %d and %d is the same", other, i)
		}
		seen[digest] = i
		inv.Timeout, inv.Grace = 1, 2 // the agent cannot see these
		if inv.Digest() != digest {
			t.Errorf("Digest() of invocation %d depends on the timeout", i)
		}
		given := agent.Invocation{Argv: inv.Argv, Stdin: inv.Stdin}.Given()
		if inv.Given() != given || given == digest {
			t.Errorf("Given() of invocation %d depends on the surroundings", i)
		}
	}
	// Every version compares its digests with those in the journals of earlier ones.
	const want = "291f89c49df0102a382847517b612f997900cabe20c3a8481e13ceab9e370418"
	if got := (agent.Invocation{Argv: []string{"a"}, Stdin: []byte("b"), Env: []string{"c"}, Dir: "d"}).Digest(); got != want {
		t.Errorf("Digest() = %s, want %s, as of every version before", got, want)
	}
}

func TestEventString(t *testing.T) {
	for _, tt := range []struct {
		event agent.Event
		want  string
	}{
		{agent.Event{Kind: agent.Text, Text: "thinking"}, "thinking"},
		{agent.Event{Kind: agent.ToolStarted, Tool: "Bash", Text: "go test"}, "tool started: Bash: go test"},
		{agent.Event{Kind: agent.ToolEnded, Tool: "Bash"}, "tool ended: Bash"},
		{agent.Event{Kind: agent.Retry, Text: "529"}, "retry: 529"},
		{agent.Event{Kind: agent.Heartbeat}, "heartbeat"},
		{agent.Event{Kind: agent.Usage}, "usage"},
		{agent.Event{Kind: agent.Session, ID: "s-1"}, "session s-1"},
		{agent.Event{Kind: agent.Result}, "result"},
		{agent.Event{Kind: 99}, "kind 99"},
	} {
		if got := tt.event.String(); got != tt.want {
			t.Errorf("String(%+v) = %q, want %q", tt.event, got, tt.want)
		}
	}
}
