// Package codex is the adapter for the Codex CLI of OpenAI. Each attempt is one `codex exec
// --json`.
package codex

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// New returns the adapter.
func New() agent.Adapter { return adapter{patience: time.Minute} }

type adapter struct {
	patience time.Duration // longest silence while codex waits until a limit is over
}

const (
	maxPrompt   = 1 << 20  // bound of a prompt, in characters; codex refuses a longer one
	maxArgument = 24 << 10 // bound of a prompt as an argument, in bytes; other users can read it
)

func (adapter) Name() string { return "codex" }

// Check returns an error for a role option that codex lacks. A role's list of tools is no error.
// Codex ignores the list, and its sandbox limits the tools instead.
func (adapter) Check(a agent.Assignment) error {
	if err := a.Support("codex", "review", "model", "tools", "mcp_config", "permission"); err != nil {
		return err
	}
	if _, err := sandboxMode(a.Permission); err != nil {
		return err
	}
	if _, err := serverOptions(a); err != nil {
		return err
	}
	if err := findServers(a); err != nil {
		return err
	}
	_, err := tool().Start(a)
	return err
}

// Invoke describes how to start codex. The options go before the subcommand "resume" or "fork",
// which accepts only few of them.
func (adapter) Invoke(a agent.Assignment) (agent.Invocation, error) {
	argv, err := tool().Start(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	mode, err := sandboxMode(a.Permission)
	if err != nil {
		return agent.Invocation{}, err
	}
	argv = append(argv, "exec", "--json", "--skip-git-repo-check", "-s", mode)
	if a.Model != "" {
		argv = append(argv, "-m", a.Model)
	}
	role, stdin, err := promptOf(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	files, option, err := schemaFile(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	servers, err := serverOptions(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	argv = slices.Concat(argv, role, servers, option, a.Args, resumeArgs(a.Follow), []string{"-"})
	return agent.Invocation{Argv: argv, Stdin: stdin, Env: a.Env, Dir: a.Dir,
		Timeout: a.Timeout, Grace: a.Grace, Files: files}, nil
}

func (c adapter) Reader(kind contract.Kind, host agent.Host) agent.Reader {
	return newReader(kind, host, c.patience)
}

func (adapter) Tool() agent.Tool { return tool() }

func tool() agent.Tool {
	return agent.Tool{
		Program: "codex",
		Permits: true,
		Project: []string{".codex/config.toml", ".codex/hooks.json"}, // in a project that its user trusts
		ByPath:  byPath,
		Resumes: true,
		Signals: agent.Signals{Session: true, Calls: true, Apart: true},
		Ignores: []string{"tools"},
		Install: "npm install -g @openai/codex",
		Tested:  "0.169.0",
		Options: []string{"--json", "--skip-git-repo-check", "--sandbox", "--model", "--config", "--output-schema"},
		Help:    []string{"exec", "--help"},
		Keys:    []string{"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "AZURE_OPENAI_API_KEY"},
	}
}

// sandboxMode returns the sandbox for a permission. codex exec asks no person, so a refusal by the
// sandbox is final. Errors: *agent.ConfigError.
func sandboxMode(p agent.Permission) (string, error) {
	switch p {
	case agent.ReadOnly:
		return "read-only", nil
	case agent.Edit, "":
		return "workspace-write", nil
	case agent.Full:
		return "danger-full-access", nil
	default:
		return "", &agent.ConfigError{Text: fmt.Sprintf("codex knows no permission %q", p),
			Fix: "read-only, edit and full are known"}
	}
}

func resumeArgs(f *agent.Follow) []string {
	switch {
	case f == nil:
		return nil
	case f.Fork:
		return []string{"fork", f.Session}
	default:
		return []string{"resume", f.Session}
	}
}

// promptOf returns the role's prompt as an option, and the user's prompt as standard input. If the
// role's prompt is too long for an argument, it goes to standard input instead, before the user's
// prompt. In a resumed thread the role's prompt always goes there, because a thread keeps its first
// instructions. Errors: *agent.ConfigError.
func promptOf(a agent.Assignment) (option []string, stdin []byte, err error) {
	stdin = a.Ask()
	switch {
	case a.Prompt == "":
	case a.Follow != nil || len(a.Prompt) > maxArgument:
		stdin = a.AskWithRole()
	default:
		option = []string{"-c", "developer_instructions=" + tomlString(a.Prompt)}
	}
	if n := utf8.RuneCount(stdin); n > maxPrompt {
		return nil, nil, &agent.ConfigError{
			Text: fmt.Sprintf("the input has %d characters, and codex takes %d at most", n, maxPrompt),
			Fix:  "split the board, or give the role another agent"}
	}
	return option, stdin, nil
}

// schemaFile returns the file and the option for the schema of the reply. Without a scratch folder
// there is no file, and only the prompt describes the reply.
func schemaFile(a agent.Assignment) (files []agent.File, option []string, err error) {
	if a.Contract.Schema() == "" || a.Scratch == "" {
		return nil, nil, nil
	}
	data, err := strictSchema(a.Contract)
	if err != nil {
		return nil, nil, fmt.Errorf("make a schema for codex: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(a.Scratch, "codex-"+a.Contract.Schema()+".schema.json"))
	if err != nil {
		return nil, nil, fmt.Errorf("find %s: %w", a.Scratch, err)
	}
	return []agent.File{{Path: path, Data: data}}, []string{"--output-schema", path}, nil
}
