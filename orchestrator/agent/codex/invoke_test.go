package codex_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/contract"
)

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func invoke(t *testing.T, a agent.Assignment) agent.Invocation {
	t.Helper()
	a.Command = append([]string{self(t)}, a.Command...)
	inv, err := codex.New().Invoke(a)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// TestInvoke: options come before the subcommand, and the prompt goes to standard input.
func TestInvoke(t *testing.T) {
	scratch := t.TempDir()
	schema := filepath.Join(scratch, "codex-reply.schema.json")
	for _, tt := range []struct {
		name       string
		assignment agent.Assignment
		argv       []string // behind the program
		prompt     string   // how standard input begins
	}{
		{"a task", agent.Assignment{Input: []byte(`{"task_file":"t"}`)},
			[]string{"exec", "--json", "--skip-git-repo-check", "-s", "workspace-write", "-"}, "Your input:\n\n{\"task_file\":\"t\"}\n"},
		{"all options", agent.Assignment{Prompt: "Be \"good\".\n", Options: agent.Options{Model: "m", Permission: agent.Full, Tools: []string{"Read"}}, Args: []string{"-c", "x=1"}, Scratch: scratch, Command: []string{"codex.js"}},
			[]string{"codex.js", "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-m", "m",
				"-c", `developer_instructions="Be \"good\".\n"`, "--output-schema", schema, "-c", "x=1", "-"}, "Your input:"},
		{"read-only", agent.Assignment{Options: agent.Options{Permission: agent.ReadOnly}}, []string{"exec", "--json", "--skip-git-repo-check", "-s", "read-only", "-"}, "Your input:"},
		{"edit", agent.Assignment{Options: agent.Options{Permission: agent.Edit}}, []string{"exec", "--json", "--skip-git-repo-check", "-s", "workspace-write", "-"}, "Your input:"},
		{"a thread that goes on", agent.Assignment{Prompt: "Be good.", Follow: &agent.Follow{Session: "id", Text: "Go on."}},
			[]string{"exec", "--json", "--skip-git-repo-check", "-s", "workspace-write", "resume", "id", "-"}, "Be good.\n\nGo on.\n"},
		{"a review in a copy of a thread", agent.Assignment{Contract: contract.Review, Scratch: scratch, Prompt: "You are the Supervisor.",
			Follow: &agent.Follow{Session: "id", Fork: true, Text: "Review it."}},
			[]string{"exec", "--json", "--skip-git-repo-check", "-s", "workspace-write", "fork", "id", "-"}, "You are the Supervisor.\n\nReview it.\n"},
		{"a role too long for an argument", agent.Assignment{Prompt: strings.Repeat("x", 30<<10)},
			[]string{"exec", "--json", "--skip-git-repo-check", "-s", "workspace-write", "-"}, "xxx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inv := invoke(t, tt.assignment)
			if !slices.Equal(inv.Argv[1:], tt.argv) {
				t.Errorf("Argv = %q, want %q", inv.Argv[1:], tt.argv)
			}
			if !strings.HasPrefix(string(inv.Stdin), tt.prompt) {
				t.Errorf("Stdin = %.80q, want %q", inv.Stdin, tt.prompt)
			}
			if got := len(inv.Files) == 1; got != slices.Contains(tt.argv, "--output-schema") {
				t.Errorf("Files = %v", inv.Files)
			}
		})
	}
}

// TestStrictSchema: OpenAI refuses open objects, optional or untyped properties, and bounds.
func TestStrictSchema(t *testing.T) {
	for kind, want := range map[contract.Kind][]string{
		contract.Task:    {"message", "status"},
		contract.Manager: {"message", "next_task", "status", "tasks"},
	} {
		inv := invoke(t, agent.Assignment{Contract: kind, Scratch: t.TempDir()})
		var s struct {
			Type       string
			Required   []string
			Additional *bool `json:"additionalProperties"`
			Properties map[string]map[string]any
		}
		if err := json.Unmarshal(inv.Files[0].Data, &s); err != nil {
			t.Fatal(err)
		}
		if s.Type != "object" || s.Additional == nil || *s.Additional || !slices.Equal(s.Required, want) || len(s.Properties) != len(want) {
			t.Errorf("schema of %v = %s", kind, inv.Files[0].Data)
		}
		for name, p := range s.Properties {
			if p["type"] == nil || p["minLength"] != nil {
				t.Errorf("%v: property %s = %v, want a type and no bound", kind, name, p)
			}
		}
	}
}

// TestTooLong: codex refuses a longer input only after its start, and no retry helps.
func TestTooLong(t *testing.T) {
	a := agent.Assignment{Command: []string{self(t)}, Input: []byte(strings.Repeat("é", 1<<20))}
	if _, err := codex.New().Invoke(a); !errors.As(err, new(*agent.ConfigError)) || !strings.Contains(err.Error(), "1048576 at most") {
		t.Errorf("Invoke = %v, want a *ConfigError with the limit", err)
	}
}

// TestCheck: what codex cannot obey is refused before anything starts.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		assignment agent.Assignment
	}{
		{"turns", "max_turns", agent.Assignment{Options: agent.Options{MaxTurns: 1}}},
		{"money", "max_cost", agent.Assignment{Options: agent.Options{MaxCost: 1}}},
		{"MCP without a file", "mcp_config cannot be read", agent.Assignment{Options: agent.Options{MCP: "no-such-mcp.json"}}},
		{"MCP without JSON", "mcp_config cannot be read", agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte("lab\n")}},
		{"MCP without servers", "mcp_config cannot be read", agent.Assignment{Options: agent.Options{MCP: "m.json"}, MCPText: []byte("{}\n")}},
		{"MCP that is a folder", "mcp_config cannot be read", agent.Assignment{Options: agent.Options{MCP: "/"}}},
		{"an odd permission", `no permission "root"`, agent.Assignment{Options: agent.Options{Permission: "root"}}},
		{"no program", "codex cannot be started", agent.Assignment{Command: []string{"no-such-codex"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.assignment.Command) == 0 {
				tt.assignment.Command = []string{self(t)}
			}
			var config *agent.ConfigError
			if err := codex.New().Check(tt.assignment); !errors.As(err, &config) || !strings.Contains(config.Text, tt.want) || config.Hint() == "" {
				t.Errorf("Check = %v, want a *ConfigError with %q and a hint", err, tt.want)
			}
		})
	}
	if err := codex.New().Check(agent.Assignment{Command: []string{self(t)}, Review: true, Options: agent.Options{Tools: []string{"Read"}, Model: "m"}}); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}

func TestTOMLString(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `""`,
		"a \"b\" \\ <c>\n\t\r":   `"a \"b\" \\ <c>\n\t\r"`,
		"\x00\x1f\x7f é 😀\u2028": `"\u0000\u001f\u007f é 😀\u2028"`,
	} {
		if got := codex.TOMLString(text); got != want {
			t.Errorf("TOMLString(%q) = %s, want %s", text, got, want)
		}
	}
}
