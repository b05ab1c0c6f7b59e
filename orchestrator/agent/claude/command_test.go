package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/internal/agenttest"
	"kanban-run/orchestrator/contract"
)

// plain begins every command line.
var plain = []string{"--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages"}

func TestInvoke(t *testing.T) {
	schema, err := contract.Task.ReplySchema()
	if err != nil {
		t.Fatal(err)
	}
	held := []string{"--setting-sources", "user", "--add-dir", ""}
	skip, form := []string{"--dangerously-skip-permissions"}, []string{"--json-schema", string(schema)}
	for _, tt := range []struct {
		name string
		a    agent.Assignment
		want []string
	}{
		{"nothing said", agent.Assignment{}, slices.Concat(skip, form)},
		{"a role", agent.Assignment{Prompt: "- be\nkind", Options: agent.Options{Model: "opus"}, Args: []string{"--effort", "high"}},
			slices.Concat(skip, []string{"--model", "opus", "--append-system-prompt", "- be\nkind"}, form, []string{"--effort", "high"})},
		{"limits", agent.Assignment{Options: agent.Options{MaxTurns: 7, MaxCost: 1_250_000}}, slices.Concat(skip, form, []string{"--max-turns", "7", "--max-budget-usd", "1.25"})},
		{"the smallest limit", agent.Assignment{Options: agent.Options{MaxCost: 1}}, slices.Concat(skip, form, []string{"--max-budget-usd", "0.000001"})},
		{"a session that goes on", agent.Assignment{Prompt: "p", Follow: &agent.Follow{Session: "s1"}},
			slices.Concat(skip, []string{"--append-system-prompt", "p", "--system-prompt-snapshot", "off"}, form, []string{"--resume", "s1"})},
		{"a review", agent.Assignment{Contract: contract.Review, Options: agent.Options{Permission: agent.ReadOnly}, Prompt: "p", Follow: &agent.Follow{Session: "s1", Fork: true}},
			[]string{"--permission-mode", "dontAsk", "--setting-sources", "user", "--add-dir", "", "--system-prompt", "p", "--system-prompt-snapshot", "off", "--resume", "s1", "--fork-session", "--no-session-persistence"}},
		{"servers", agent.Assignment{Options: agent.Options{MCP: "m.json"}}, slices.Concat(skip, form, []string{"--mcp-config", "m.json", "--strict-mcp-config"})},
		{"servers as they were read", agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte("{}"), Scratch: "handed"}, slices.Concat(skip, form,
			[]string{"--mcp-config", "handed/claude-44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a.mcp.json", "--strict-mcp-config"})},
		{"servers and tools", agent.Assignment{Options: agent.Options{MCP: "m.json", Tools: []string{"Read", "mcp__lab__one"}}},
			slices.Concat([]string{"--permission-mode", "dontAsk", "--tools", "Read", "--allowedTools", "Read,mcp__lab__one"}, held, form, []string{"--mcp-config", "m.json", "--strict-mcp-config"})},
		{"a server's tool", agent.Assignment{Options: agent.Options{Tools: []string{"mcp__lab__one"}}},
			slices.Concat([]string{"--permission-mode", "dontAsk", "--tools", "", "--allowedTools", "mcp__lab__one"}, held, form)},
		{"no tools", agent.Assignment{Options: agent.Options{Tools: []string{}}}, slices.Concat(skip, []string{"--tools", ""}, form, []string{"--strict-mcp-config"})},
		{"tools", agent.Assignment{Options: agent.Options{Tools: []string{"Read", "Bash"}}}, slices.Concat(skip, []string{"--tools", "Read,Bash"}, form, []string{"--strict-mcp-config"})},
		{"a rule", agent.Assignment{Options: agent.Options{Tools: []string{"Read", "Bash(git log:*)", "Bash(git show:*)"}}},
			slices.Concat([]string{"--permission-mode", "dontAsk", "--tools", "Read,Bash", "--allowedTools", "Read,Bash(git log:*),Bash(git show:*)"}, held, form, []string{"--strict-mcp-config"})},
		{"edit", agent.Assignment{Options: agent.Options{Permission: agent.Edit}}, slices.Concat([]string{"--permission-mode", "acceptEdits"}, held, form)},
		{"edit with tools", agent.Assignment{Options: agent.Options{Permission: agent.Edit, Tools: []string{"Bash", "Write", "Bash(make:*)", "WebFetch"}}},
			slices.Concat([]string{"--permission-mode", "acceptEdits", "--tools", "Bash,Write,WebFetch", "--allowedTools", "Bash(make:*),WebFetch"}, held, form, []string{"--strict-mcp-config"})},
		{"read-only with tools", agent.Assignment{Options: agent.Options{Permission: agent.ReadOnly, Tools: []string{"Read", "Bash(rm:*)", "Write"}}},
			slices.Concat([]string{"--permission-mode", "dontAsk", "--tools", "Read,Bash,Write", "--allowedTools", "Read"}, held, form, []string{"--strict-mcp-config"})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.a.Command, tt.a.Input = []string{agenttest.Self(t), "word"}, []byte(`{}`)
			inv, err := New().Invoke(tt.a)
			if want := slices.Concat(tt.a.Command, plain, tt.want); err != nil || !slices.Equal(inv.Argv, want) {
				t.Errorf("Argv = %q, %v\nwant   %q", inv.Argv, err, want)
			}
			var said user
			if err := json.Unmarshal(inv.Stdin, &said); err != nil || !inv.Listens || said.Message.Content[0].Text != string(tt.a.Ask()) || (len(inv.Files) == 1) != (tt.a.MCPText != nil) {
				t.Errorf("Stdin = %q with files %v, want what the agent is asked", inv.Stdin, inv.Files)
			}
		})
	}
}

// TestSessionIsChosenOnce: a role's arguments choose the session of the first start only. claude
// takes the last of several, or refuses them.
func TestSessionIsChosenOnce(t *testing.T) {
	for _, tt := range []struct{ args, want []string }{
		{[]string{"--add-dir", "../lib"}, []string{"--add-dir", "../lib"}},
		{[]string{"--continue", "--add-dir", "../lib"}, []string{"--add-dir", "../lib"}},
		{[]string{"-c"}, nil},
		{[]string{"--resume", "s0", "--fork-session", "--effort", "low"}, []string{"--effort", "low"}},
		{[]string{"--resume", "--verbose"}, []string{"--verbose"}},
		{[]string{"-r", "s0", "x"}, []string{"x"}},
		{[]string{"--verbose", "-r"}, []string{"--verbose"}},
		{[]string{"-rs0", "--resume=s0"}, nil},
		{[]string{"--session-id", "0c3f", "--session-id=0c3f", "--debug"}, []string{"--debug"}},
		{[]string{"--session-id"}, nil},
		{[]string{"--verbose", "--", "-c"}, []string{"--verbose", "--", "-c"}},
	} {
		for _, follow := range []*agent.Follow{nil, {Session: "s1"}, {Session: "s1", Fork: true}} {
			a := agent.Assignment{Command: []string{agenttest.Self(t)}, Contract: contract.Review, Args: tt.args, Follow: follow}
			want := tt.args
			if follow != nil {
				want = tt.want
			}
			for _, invoke := range []func(agent.Assignment) (agent.Invocation, error){New().Invoke, adapter{}.Talk} {
				plain := a
				plain.Args = nil
				before, err := invoke(plain)
				inv, err2 := invoke(a)
				if want := slices.Concat(before.Argv, want); err != nil || err2 != nil || !slices.Equal(inv.Argv, want) {
					t.Errorf("Argv with %q = %q, %v, %v\nwant %q", tt.args, inv.Argv, err, err2, want)
				}
			}
		}
	}
}

// TestLongPrompt: a prompt too long for a command line is a file in the scratch folder, with the
// same name in each attempt.
func TestLongPrompt(t *testing.T) {
	a := agent.Assignment{Command: []string{agenttest.Self(t)}, Scratch: t.TempDir(), Prompt: strings.Repeat("x", maxArgument+1)}
	first, err := New().Invoke(a)
	if err != nil || len(first.Files) != 1 || string(first.Files[0].Data) != a.Prompt || filepath.Dir(first.Files[0].Path) != a.Scratch {
		t.Fatalf("Files = %v, %v, want the prompt below %s", first.Files, err, a.Scratch)
	}
	at := slices.Index(first.Argv, "--append-system-prompt-file")
	if at < 0 || first.Argv[at+1] != first.Files[0].Path || slices.Contains(first.Argv, a.Prompt) {
		t.Errorf("Argv = %.500q, want the file's name in it", first.Argv)
	}
	again, err := New().Invoke(a)
	if err != nil || again.Digest() != first.Digest() {
		t.Errorf("Digest() = %s, %v, and before %s", again.Digest(), err, first.Digest())
	}
	a.Contract, a.Follow = contract.Review, &agent.Follow{Session: "s", Fork: true}
	if inv, err := New().Invoke(a); err != nil || !slices.Contains(inv.Argv, "--system-prompt-file") || len(inv.Files) != 1 {
		t.Errorf("Argv = %.300q, %v, want the reviewer's prompt as a file", inv.Argv, err)
	}
	a.Scratch = ""
	if _, err := New().Invoke(a); !errors.As(err, new(*agent.ConfigError)) {
		t.Errorf("Invoke = %v, want a *ConfigError where there is no place for the file", err)
	}
}

// TestCheck: what claude would refuse is refused before the start, with a remedy.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name      string
		euid      int
		a         agent.Assignment
		text, fix string // "": it is fine
	}{
		{"a user", 1000, agent.Assignment{}, "", ""},
		{"no users", -1, agent.Assignment{}, "", ""},
		{"root", 0, agent.Assignment{}, "root", "IS_SANDBOX"},
		{"root who may do all", 0, agent.Assignment{Options: agent.Options{Permission: agent.Full}}, "root", "permission: edit"},
		{"root with tools", 0, agent.Assignment{Options: agent.Options{Tools: []string{"Bash"}}}, "root", "another user"},
		{"root with rules", 0, agent.Assignment{Options: agent.Options{Tools: []string{"Bash(ls:*)"}}}, "", ""},
		{"root who edits", 0, agent.Assignment{Options: agent.Options{Permission: agent.Edit}}, "", ""},
		{"root who reads", 0, agent.Assignment{Options: agent.Options{Permission: agent.ReadOnly}}, "", ""},
		{"root in a container", 0, agent.Assignment{Env: []string{"A=B", "IS_SANDBOX=1"}}, "", ""},
		{"root who is in none", 0, agent.Assignment{Env: []string{"IS_SANDBOX=0"}}, "root", "IS_SANDBOX"},
		{"a file that is not there", 1000, agent.Assignment{Options: agent.Options{MCP: "/no/such/mcp.json"}}, "mcp_config cannot be read", "mcpServers"},
		{"a file without JSON", 1000, agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte("lab\n")}, "mcp_config cannot be read", "mcpServers"},
		{"a folder", 1000, agent.Assignment{Options: agent.Options{MCP: "/"}}, "mcp_config cannot be read", "mcpServers"},
		{"a file without servers", 1000, agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte(`{"servers":{}}`)}, "mcp_config cannot be read", "mcpServers"},
		{"servers in another spelling", 1000, agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte(`{"mcpservers":{}}`)}, "mcp_config cannot be read", "mcpServers"},
		{"a list of servers", 1000, agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte(`{"mcpServers":["lab"]}`)}, "mcp_config cannot be read", "mcpServers"},
		{"a server that is a word", 1000, agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte(`{"mcpServers":{"lab":"node"}}`)}, "mcp_config cannot be read", "mcpServers"},
		{"a server", 1000, agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte(`{"mcpServers":{"lab":{"command":"node"}},"more":1}`)}, "", ""},
		{"a file of Windows", 1000, agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte("\ufeff{\"mcpServers\":{}}\r\n")}, "", ""},
		{"no claude", 1000, agent.Assignment{Command: []string{"no-such-claude"}}, "claude cannot be started", "npm install -g @anthropic-ai/claude-code"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.a.Command == nil {
				tt.a.Command = []string{agenttest.Self(t)}
			}
			err := adapter{euid: tt.euid}.Check(tt.a)
			var config *agent.ConfigError
			if tt.text == "" && err != nil || tt.text != "" && (!errors.As(err, &config) || !strings.Contains(config.Text, tt.text) || !strings.Contains(config.Fix, tt.fix)) {
				t.Errorf("Check = %+v, want %q with the hint %q", err, tt.text, tt.fix)
			}
		})
	}
}

// TestTool: a key that opens more than a model does not pass by default.
func TestTool(t *testing.T) {
	tool := New().Tool()
	if slices.Contains(tool.Keys, "AWS_*") || !slices.Contains(tool.Keys, "ANTHROPIC_API_KEY") || tool.Env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] != "1" {
		t.Errorf("Tool() = %+v", tool)
	}
	for _, key := range tool.Keys {
		if strings.HasPrefix(key, "AWS_SECRET") || key == "*" {
			t.Errorf("%s passes to every claude", key)
		}
	}
	if got := fmt.Sprint(New().Name()); got != "claude" {
		t.Errorf("Name() = %s", got)
	}
}
