package codex

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/agent"
)

// TestMCP: servers go onto the command line, possible secrets do not.
func TestMCP(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       []string
		refused    string
	}{
		{"a program", `{"mcpServers":{"lab":{"command":"node","args":["a \"b\".js","--x=1"]}}}`,
			[]string{"-c", `mcp_servers.lab.command="node"`, "-c", `mcp_servers.lab.args=["a \"b\".js","--x=1"]`,
				"-c", `mcp_servers.lab.default_tools_approval_mode="approve"`}, ""},
		{"two, in an order of their own", `{"mcpServers":{"z":{"url":"http://127.0.0.1/mcp"},"a":{"command":"x"}}}`,
			[]string{"-c", `mcp_servers.a.command="x"`, "-c", "mcp_servers.a.args=[]", "-c", `mcp_servers.a.default_tools_approval_mode="approve"`,
				"-c", `mcp_servers.z.url="http://127.0.0.1/mcp"`, "-c", `mcp_servers.z.default_tools_approval_mode="approve"`}, ""},
		{"none", `{"mcpServers":{}}`, nil, ""},
		{"variables", `{"mcpServers":{"lab":{"command":"node","env":{"KEY":"hunter2"}}}}`, nil, `the MCP server "lab"`},
		{"headers", `{"mcpServers":{"lab":{"url":"http://x","headers":{"Authorization":"hunter2"}}}}`, nil, `the MCP server "lab"`},
		{"a name that is a path", `{"mcpServers":{"a.b":{"command":"node"}}}`, nil, `the MCP server "a.b"`},
		{"neither program nor address", `{"mcpServers":{"lab":{}}}`, nil, `the MCP server "lab"`},
		{"no JSON", `mcp`, nil, "mcp_config cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := serverOptions(agent.Assignment{Options: agent.Options{MCP: path}})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
			if (err == nil) != (tt.refused == "") || err != nil && (!errors.As(err, new(*agent.ConfigError)) || !strings.Contains(err.Error(), tt.refused) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("error %v, want %q", err, tt.refused)
			}
		})
	}
}

// TestMCPOnce: a file that an agent changed does not change the next attempt. Seed 004, "Retry Rule
// (CRITICAL)".
func TestMCPOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"lab":{"command":"first"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a := agent.Assignment{Options: agent.Options{MCP: path}, MCPText: agent.ReadMCP(path), Dir: dir}
	for _, text := range []string{`{"mcpServers":{"lab":{"command":"second"}}}`, "no JSON"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := serverOptions(a); err != nil || got[1] != `mcp_servers.lab.command="first"` {
			t.Errorf("with %s in the file: options %q, %v, want those of before", text, got, err)
		}
	}
	if got := agent.ReadMCP(filepath.Join(dir, "none.json")); got != nil {
		t.Errorf("ReadMCP of no file = %q", got)
	}
}

// TestPlainCommand: what codex runs is shown without its shell.
func TestPlainCommand(t *testing.T) {
	for command, want := range map[string]string{
		"/bin/bash -lc 'make test'":     "make test",
		`bash -lc "echo it's"`:          "echo it's",
		"/bin/zsh -lc ls":               "ls",
		"/bin/bash -lc 'a' && echo 'b'": "'a' && echo 'b'",
		"echo a b -lc c":                "echo a b -lc c",
	} {
		if got := plainCommand(command); got != want {
			t.Errorf("plainCommand(%q) = %q, want %q", command, got, want)
		}
	}
}

// TestMCPTimeout: codex ends a call that takes too long itself, in whole seconds.
func TestMCPTimeout(t *testing.T) {
	got, err := serverOptions(agent.Assignment{Options: agent.Options{MCP: "mcp.json", Permission: agent.ReadOnly}, MCPText: []byte(`{"mcpServers":{"lab":{"command":"node"}}}`), MCPTimeout: 1500 * time.Millisecond})
	if want := []string{"-c", `mcp_servers.lab.command="node"`, "-c", "mcp_servers.lab.args=[]", "-c", "mcp_servers.lab.tool_timeout_sec=2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("options = %q, %v, want %q", got, err, want)
	}
}

// TestMissingServer: codex tells nothing of an MCP server that it cannot start, so its program is looked for before the
// first agent.
func TestMissingServer(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers":{"lab":{"command":"sh"},"far":{"url":"http://127.0.0.1/mcp"}}}`: "",
		`{"mcpServers":{"lab":{"command":"no-such-server"}}}`:                          `the MCP server "lab" of mcp_config cannot be started`,
		`{"mcpServers":{"lab":{"command":"./no-such-server"}}}`:                        `the MCP server "lab" of mcp_config cannot be started`,
	} {
		a := agent.Assignment{Options: agent.Options{MCP: "mcp.json", Permission: agent.Full}, MCPText: []byte(text), Dir: t.TempDir(), Command: []string{"sh"}}
		err := New().Check(a)
		config := (*agent.ConfigError)(nil)
		if (err == nil) != (want == "") || err != nil && (!errors.As(err, &config) || !strings.Contains(err.Error(), want) || config.Fix == "") {
			t.Errorf("%s: Check = %v, want %q", text, err, want)
		}
	}
}
