package roles

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/option"
	"kanban-run/orchestrator/testfile"
)

// write makes a folder with files and returns it.

func load(t *testing.T, dirs ...string) *Set {
	t.Helper()
	s, err := Load(dirs...)
	if err != nil {
		t.Fatalf("Load(%v): %v", dirs, err)
	}
	return s
}

func TestLoadFolders(t *testing.T) {
	first := testfile.Tree(t, map[string]string{
		"manager.md":    "---\nname: manager\nmodel: first\n---\nKeep it.\n",
		"tester.MD":     "---\ndescription: no name\n---\nTest.\n",
		"README.md":     "no role\n",
		".hidden.md":    "no role\n",
		"notes.txt":     "no role\n",
		"sub/nested.md": "no role\n",
	})
	second := testfile.Tree(t, map[string]string{
		"boss.md":   "---\nname: MANAGER\nmodel: second\n---\n",
		"writer.md": "---\nname: Tech Writer\n---\n",
	})
	s := load(t, first, filepath.Join(first, "missing"), second)

	var got []string
	for _, role := range s.All() {
		got = append(got, role.Name+" "+filepath.Base(role.File))
	}
	want := []string{"Architect embedded:architect.md", "Implementor embedded:implementor.md", "Manager manager.md",
		"Supervisor embedded:supervisor.md", "Tech Writer writer.md", "tester tester.MD"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("All() differs (-want +got):\n%s", diff)
	}
	if m, err := s.Lookup(" mAnAgEr "); err != nil || m.Model != "first" || m.Prompt != "Keep it." {
		t.Errorf("Lookup(mAnAgEr) = model %q, prompt %q, %v, want those of the first folder", m.Model, m.Prompt, err)
	}
}

// A replacement in a sub-agent's lower case stays the role that the program knows.
func TestReplacementKeepsTheEmbeddedSpelling(t *testing.T) {
	s := load(t, testfile.Tree(t, map[string]string{"m.md": "---\nname: manager\n---\n"}))
	if m, err := s.Lookup("manager"); err != nil || m.Name != "Manager" || filepath.Base(m.File) != "m.md" {
		t.Errorf("Lookup(manager) = %q of %s, %v, want Manager of m.md", m.Name, m.File, err)
	}
}

func TestLookupUnknown(t *testing.T) {
	tests := []struct{ name, hint string }{
		{"Implementer", "did you mean Implementor? the known roles are Architect, Implementor, Manager, Supervisor"},
		{"manger", "did you mean Manager? the known roles are Architect, Implementor, Manager, Supervisor"},
		{"Tester",
			"the known roles are Architect, Implementor, Manager, Supervisor; add another as .kanban-run/roles/NAME.md"},
		{"",
			"the known roles are Architect, Implementor, Manager, Supervisor; add another as .kanban-run/roles/NAME.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t).Lookup(tt.name)
			unknown, ok := errors.AsType[*UnknownError](err)
			if !ok {
				t.Fatalf("Lookup(%q) = %v, want an UnknownError", tt.name, err)
			}
			if unknown.Hint() != tt.hint {
				t.Errorf("Hint() = %q, want %q", unknown.Hint(), tt.hint)
			}
		})
	}
}

func TestParse(t *testing.T) {
	minute, zero := time.Minute, time.Duration(0)
	tests := []struct {
		name, source string
		want         Role
	}{
		{"only a name", "---\nname: Tester\n---\n", Role{Name: "Tester"}},
		{"name of the file", "---\ndescription: x\n---\n", Role{Name: "some-role", Description: "x"}},
		{"BOM, CRLF and blank lines around the prompt", "\ufeff---\r\nname: T\r\n---\r\n\r\nOne.\r\n\r\nTwo.\r\n\r\n",
			Role{Name: "T", Prompt: "One.\n\nTwo."}},
		{"every key", `---
name: Tester
description: Tests it.
agent: Exec
command: [./test.sh, "two words"]
args: [--max, 5, true]
model: opus
tools: [Read, "Bash(git log:*)"]
timeout: 1m
grace: 0
permission: edit
max_turns: 40
max_cost: 2.50
mcp_config: ./mcp.json
review: supervisor
review_rounds: 4
env:
  pass: [NPM_TOKEN, "AWS_*"]
  set: {MODE: fast, LEVEL: 3, EMPTY: null}
  only: [PATH, HOME]
---
Test it.
`, Role{
			Name: "Tester", Description: "Tests it.", Agent: "exec", Options: agent.Options{Model: "opus", Tools: []string{"Read", "Bash(git log:*)"}, Permission: "edit", MaxTurns: 40, MaxCost: 2_500_000, MCP: "./mcp.json"},
			Command: []string{"./test.sh", "two words"},
			Args:    []string{"--max", "5", "true"}, Timeout: &minute,
			Grace: &zero, Review: Review{Supervisor: true}, Rounds: 4,
			Env: option.Env{Pass: []string{"NPM_TOKEN", "AWS_*"},
				Set:  map[string]string{"MODE": "fast", "LEVEL": "3", "EMPTY": ""},
				Only: []string{"PATH", "HOME"}},
			Prompt: "Test it.",
		}},
		{"a command in one line", "---\ncommand: ./test.sh --fast=1 -o ~/x,y\n---\n",
			Role{Name: "some-role", Command: []string{"./test.sh", "--fast=1", "-o", "~/x,y"}}},
		{"nulls are absent", "---\nname:\ncommand:\ntools:\ntimeout: ~\nenv:\n---\n", Role{Name: "some-role"}},
		{"empty lists stay lists", "---\ntools: []\nargs: []\n---\n",
			Role{Name: "some-role", Options: agent.Options{Tools: []string{}}, Args: []string{}}},
		{"tools with commas within parentheses",
			"---\ntools: Read, Bash(git log:*, git show:*), Task(a, b) ,, Grep\n---\n",
			Role{Name: "some-role", Options: agent.Options{Tools: []string{"Read", "Bash(git log:*, git show:*)", "Task(a, b)", "Grep"}}}},
		{"a permission in Claude Code's words", "---\npermissionMode: bypassPermissions\n---\n",
			Role{Name: "some-role", Options: agent.Options{Permission: "full"}}},
		{"a permission in Codex's words", "---\npermission: workspace-write\n---\n",
			Role{Name: "some-role", Options: agent.Options{Permission: "edit"}}},
		{"our own word before Claude Code's", "---\npermissionMode: bypassPermissions\npermission: Read-Only\n---\n",
			Role{Name: "some-role", Options: agent.Options{Permission: "read-only"}}},
		{"a command that reviews", "---\nreview: {command: make test}\naccepts: [feedback]\n---\n",
			Role{Name: "some-role", Review: Review{Command: []string{"make", "test"}}, Feedback: true}},
		{"a command and a supervisor", "---\nreview:\n  command: [sh, -c, 'a && b']\n  supervisor: true\n  permission: full\n---\n",
			Role{Name: "some-role", Review: Review{Command: []string{"sh", "-c", "a && b"}, Supervisor: true, Permission: "full"}}},
		{"dollars with their sign", "---\nmax_cost: $0.29\n---\n", Role{Name: "some-role", Options: agent.Options{MaxCost: 290_000}}},
		{"no review", "---\nreview: none\nmax_turns:\nmax_cost: ~\npermission:\nmcp_config:\n---\n",
			Role{Name: "some-role"}},
		{"tools with commas in a list", "---\ntools: [\"Read,Bash\", mcp__a-b__c]\n---\n",
			Role{Name: "some-role", Options: agent.Options{Tools: []string{"Read", "Bash", "mcp__a-b__c"}}}},
		{"all tools", "---\ntools: \"*\"\n---\n", Role{Name: "some-role"}},
		{"no limit of cost", "---\nmax_cost: 0\n---\n", Role{Name: "some-role"}},
		{"model inherit", "---\nmodel: inherit\n---\n", Role{Name: "some-role"}},
		{"keys of other tools",
			"---\nname: T\nversion: 1.0.0\nrole_type: monitoring\nmode: subagent\nhooks: {a: [b]}\npermissionMode: plan\n---\n",
			Role{Name: "T", Options: agent.Options{Permission: "read-only"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.File = "roles/some-role.md"
			got, err := parse("roles/some-role.md", []byte(tt.source))
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Role{})); diff != "" {
				t.Errorf("parse differs (-want +got):\n%s", diff)
			}
		})
	}
}

// Files as Claude Code writes and reads them. Its own generator made the first description, which
// is not YAML.
func TestSubAgentFilesLoadAsTheyAre(t *testing.T) {
	tests := []struct {
		name, source, description string
		tools                     []string
	}{
		{
			name: "generated description with colons and no quotes",
			source: "---\nname: code-reviewer\ndescription: Use this agent after code was written. Examples:\\n\\n<example>\\nContext: It's done.\\n" +
				"user: \"Check it\"\\nassistant: \"I'll look\"\ntools: Read, Grep, Glob, Bash\nmodel: sonnet\ncolor: red\n---\n\nYou review code: all of it.\n",
			description: "Use this agent after code was written. Examples:\\n\\n<example>\\nContext: It's done.\\nuser: \"Check it\"\\nassistant: \"I'll look\"",
			tools:       []string{"Read", "Grep", "Glob", "Bash"},
		},
		{
			name: "description as a block, tools as a list",
			source: "---\nname: code-reviewer\ndescription: |\n  Reviews: everything.\n\n  <example>\n  user: \"x\"\n  </example>\nmodel: sonnet\n" +
				"color: orange\ntools:\n  - Read\n  - Grep\n---\n\nYou review code: all of it.\n",
			description: "Reviews: everything.\n\n<example>\nuser: \"x\"\n</example>",
			tools:       []string{"Read", "Grep"},
		},
		{
			name:        "no tools: all of them",
			source:      "---\nname: code-reviewer\ndescription: Reviews.\nmodel: sonnet\nmemory: user\nskills: [a]\n---\nYou review code: all of it.\n",
			description: "Reviews.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			role, err := load(t, testfile.Tree(t, map[string]string{"x.md": tt.source})).Lookup("Code-Reviewer")
			if err != nil {
				t.Fatal(err)
			}
			want := Role{Name: "code-reviewer", Description: tt.description, Options: agent.Options{Model: "sonnet", Tools: tt.tools},
				File:   role.File,
				Prompt: "You review code: all of it."}
			if diff := cmp.Diff(want, role, cmpopts.IgnoreUnexported(Role{})); diff != "" {
				t.Errorf("role differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, source, want, hint string }{
		{"no frontmatter", "You test.\n", "x.md:1:1: a role file begins with frontmatter, and this one has none",
			"begin it with three lines: ---, name: NAME, ---"},
		{"empty file", "", "x.md:1:1: a role file begins with frontmatter, and this one has none",
			"begin it with three lines: ---, name: NAME, ---"},
		{"misspelt key", "---\nname: T\ntool: Read\n---\n", `x.md:3:1: unknown key "tool"`, "did you mean tools?"},
		{"key in another case", "---\nname: T\nTools: Read\n---\n", `x.md:3:1: unknown key "Tools"`,
			"did you mean tools?"},
		{"key with a dash", "---\ntime-out: 3m\n---\n", `x.md:2:1: unknown key "time-out"`, "did you mean timeout?"},
		{"swapped letters", "---\ncomamnd: x\n---\n", `x.md:2:1: unknown key "comamnd"`, "did you mean command?"},
		{"a path as name", "---\nname: ../Manager\n---\n", `x.md:2:7: "../Manager" is no role name`,
			"use letters, digits, - and _"},
		{"name over two lines", "---\nname: \"a\\nb\"\n---\n", `x.md:2:7: "a\nb" is no role name`,
			"use letters, digits, - and _"},
		{"name as a list", "---\nname: [a, b]\n---\n", "x.md:2:7: name must be text", "write name: TEXT"},
		{"duration without a unit", "---\ntimeout: 90\n---\n", `x.md:2:10: timeout: "90" is no duration`,
			"write a number with its unit, for example 90s, 30m or 1h30m; 0 is none"},
		{"negative duration", "---\ngrace: -1s\n---\n", `x.md:2:8: grace: "-1s" is no duration`,
			"write a number with its unit, for example 90s, 30m or 1h30m; 0 is none"},
		{"an unknown permission", "---\npermission: root\n---\n",
			`x.md:2:13: permission: "root" is no permission`,
			"write permission: read-only, edit or full"},
		{"one that Claude Code does not know", "---\npermissionMode: yolo\n---\n",
			`x.md:2:17: permissionMode: "yolo" is no permission`,
			"write permission: read-only, edit or full"},
		{"no turns", "---\nmax_turns: 0\n---\n", `x.md:2:12: max_turns: "0" is no number of at least 1`,
			"write a whole number, 1 or more"},
		{"half a round", "---\nreview_rounds: 0.5\n---\n", `x.md:2:16: review_rounds: "0.5" is no number of at least 1`,
			"write a whole number, 1 or more"},
		{"a cost in words", "---\nmax_cost: 2 USD\n---\n", `x.md:2:11: max_cost: "2 USD" is no amount`,
			"write an amount in US dollars, for example 2.50; 0 is none"},
		{"a cost that would be none", "---\nmax_cost: 1e-9\n---\n", `x.md:2:11: max_cost: "1e-9" is no amount`,
			"write an amount in US dollars, for example 2.50; 0 is none"},
		{"a cost that is no number", "---\nmax_cost: NaN\n---\n", `x.md:2:11: max_cost: "NaN" is no amount`,
			"write an amount in US dollars, for example 2.50; 0 is none"},
		{"an unknown reviewer", "---\nreview: Architect\n---\n",
			`x.md:2:9: review: "Architect" reviews nothing`, "write review: supervisor, none, or {command: make test}"},
		{"a misspelt permission", "---\npermision: edit\n---\n", `x.md:2:1: unknown key "permision"`,
			"did you mean permission?"},
		{"command with quotes", "---\ncommand: sh -c 'echo hi'\n---\n",
			"x.md:2:10: command has quotes or characters of the shell in it",
			"write it as a list: command: [WORD, WORD]"},
		{"command with a variable", "---\ncommand: $HOME/x\n---\n",
			"x.md:2:10: command has quotes or characters of the shell in it",
			"write it as a list: command: [WORD, WORD]"},
		{"command as a map", "---\ncommand: {a: b}\n---\n", "x.md:2:10: command must be text or a list", "write it as a list: command: [WORD, WORD]"},
		{"list in a list", "---\nargs: [a, [b]]\n---\n", "x.md:2:11: args must be a list of texts",
			"quote each entry"},
		{"a tool with a blank", "---\ntools: [\"Read Bash\"]\n---\n",
			`x.md:2:8: tools: "Read Bash" is no name of a tool`,
			"write names with commas in between, such as Read, Bash(git log:*)"},
		{"a review by an empty command", "---\nreview: {command: ''}\n---\n", "x.md:2:19: review.command names no program",
			"write review: supervisor, none, or {command: make test}"},
		{"a review by a pipe", "---\nreview: {command: a | b}\n---\n",
			"x.md:2:19: review.command has quotes or characters of the shell in it", "write it as a list: review.command: [WORD, WORD]"},
		{"an unknown key of review", "---\nreview: {commands: x}\n---\n", `x.md:2:10: review has no key "commands"`,
			"write review: supervisor, none, or {command: make test}"},
		{"a review by a list", "---\nreview: [x]\n---\n", "x.md:2:9: review must be a word or a mapping",
			"write review: supervisor, none, or {command: make test}"},
		{"a supervisor between yes and no", "---\nreview: {supervisor: perhaps}\n---\n",
			`x.md:2:22: review.supervisor: "perhaps" is neither true nor false`, "write supervisor: true or false"},
		{"an unknown permission of the supervisor", "---\nreview: {supervisor: true, permission: all}\n---\n",
			`x.md:2:40: review.permission: "all" is no permission`, "write permission: read-only, edit or full"},
		{"an unknown optional field", "---\naccepts: [anger]\n---\n", `x.md:2:10: no input has an optional field "anger"`,
			"write accepts: [feedback], or for the Manager accepts: [anomalies]"},
		{"accepts as a word", "---\naccepts: feedback\n---\n", "x.md:2:10: accepts must be a list", "write accepts: [feedback], or for the Manager accepts: [anomalies]"},
		{"a NUL in the prompt", "---\nname: T\n---\na\x00b\n", "x.md: the prompt holds a NUL character",
			"remove it: a prompt is text"},
		{"a NUL in env.set", "---\nenv: {set: {A: \"x\\0y\"}}\n---\n", "x.md:2:16: env.set: the value of A holds a NUL character, which no variable can", "remove the character"},
		{"a NUL in a command", "---\ncommand: [a, \"b\\0\"]\n---\n", "x.md:2:14: command must be a list of texts", "quote each entry"},
		{"less than a nanosecond", "---\ntimeout: 0.00001ns\n---\n", `x.md:2:10: timeout: "0.00001ns" is no duration`, "write a number with its unit, for example 90s, 30m or 1h30m; 0 is none"},
		{"env as a list", "---\nenv: [A]\n---\n", "x.md:2:6: env must be a mapping",
			"write env: {pass: [NAME], set: {NAME: value}}"},
		{"unknown key in env", "---\nenv:\n  allow: [A]\n---\n", `x.md:3:3: unknown key "allow" in env`,
			"env has the keys pass, set, only"},
		{"env.pass with a value", "---\nenv:\n  pass: [\"A=b\"]\n---\n",
			`x.md:3:10: env.pass: "A=b" is no variable name`,
			"name the variable only, without $ or =; * stands for any letters"},
		{"env.only empty", "---\nenv: {only: []}\n---\n", "x.md:2:13: env.only is empty",
			"name what agents need, for example [PATH, HOME]; or remove the line"},
		{"env.set with a list", "---\nenv:\n  set: {A: [b]}\n---\n",
			`x.md:3:9: env.set: "A" must be a variable name with one text as its value`,
			"write set: {NAME: value}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse("x.md", []byte(tt.source))
			problem, ok := errors.AsType[*frontmatter.Problem](err)
			if !ok {
				t.Fatalf("parse = %v, want a Problem", err)
			}
			if got := problem.Error(); got != tt.want {
				t.Errorf("Error() = %s, want %s", got, tt.want)
			}
			if got := problem.Hint(); got != tt.hint {
				t.Errorf("Hint() = %s, want %s", got, tt.hint)
			}
		})
	}
}

// Only the description is read a second time: all else that the guarded reader refuses stays
// refused.
func TestParseStaysGuarded(t *testing.T) {
	for name, source := range map[string]string{
		"unterminated":       "---\nname: T\n",
		"duplicate key":      "---\nname: T\nname: U\n---\n",
		"alias":              "---\nname: &a T\ndescription: *a\n---\n",
		"colon elsewhere":    "---\nname: T: U\n---\ndescription: a: b\n",
		"broken description": "---\ndescription: a: b\nname: [\n---\n",
		"toml":               "+++\nname = \"T\"\n+++\n",
	} {
		t.Run(name, func(t *testing.T) {
			if role, err := parse("x.md", []byte(source)); err == nil {
				t.Errorf("parse = %+v, want an error", role)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Run("two files, one role", func(t *testing.T) {
		dir := testfile.Tree(t, map[string]string{"a.md": "---\nname: Tester\n---\n", "tester.md": "---\nmodel: x\n---\n"})
		_, err := Load(dir)
		want := filepath.Join(dir, "tester.md") + ": the role tester is already defined by " + filepath.Join(dir,
			"a.md")
		if err == nil || err.Error() != want {
			t.Errorf("Load = %v, want %s", err, want)
		}
	})
	t.Run("a file where a folder should be", func(t *testing.T) {
		dir := testfile.Tree(t, map[string]string{"a.md": ""})
		if _, err := Load(filepath.Join(dir, "a.md")); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load(a.md) = %v, want an error", err)
		}
	})
	t.Run("a folder where a file should be", func(t *testing.T) {
		dir := testfile.Tree(t, map[string]string{"a.md/x": ""})
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("Load = %v, want: not a regular file", err)
		}
	})
	t.Run("too large", func(t *testing.T) {
		dir := testfile.Tree(t, map[string]string{"a.md": "---\nname: T\n---\n" + strings.Repeat("x", maxFile)})
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
			t.Errorf("Load = %v, want: larger than 1 MiB", err)
		}
	})
}

// Any role file is read or refused.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"manager.md", "supervisor.md"} {
		source, err := embedded.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	f.Add([]byte("---\ndescription: a: 'b'\nenv: {pass: [A], set: {B: c}}\ncommand: a b\n---\nx\r\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		role, err := parse("x.md", source)
		if err != nil {
			return
		}
		if role.Name == "" {
			t.Error("a role without a name was read")
		}
		// The end of the file is the end of the prompt, even when the header was read twice.
		body := strings.Trim(strings.ReplaceAll(string(source), "\r\n", "\n"), "\n")
		if !strings.HasSuffix(body, role.Prompt) {
			t.Errorf("prompt %q is not the end of %q", role.Prompt, body)
		}
		if slices.Contains(role.Command, "") {
			t.Errorf("command %q has an empty word although none was written", role.Command)
		}
	})
}
