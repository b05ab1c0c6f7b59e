// Package claude is the adapter for Claude Code. It runs `claude --print` for one attempt, and
// reads the reply or the failure from the JSON lines that claude prints.
package claude

import (
	"fmt"
	"os"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// New returns the adapter.
func New() agent.Adapter { return adapter{euid: os.Geteuid()} }

type adapter struct {
	euid int // user ID of this process; -1 on a system without user IDs
}

func (adapter) Name() string { return "claude" }

// Tool returns the version and the options that the adapter relies on. The field Keys holds a key
// for a cloud only if the key gives access to models and to nothing else. A person has to grant any
// other key, such as AWS_SECRET_ACCESS_KEY.
func (adapter) Tool() agent.Tool {
	return agent.Tool{
		Program: "claude",
		Permits: true,
		EndsAt:  true,
		Resumes: true,
		Signals: agent.Signals{Session: true, Calls: true, Apart: true},
		ByPath:  byPath,
		Install: "npm install -g @anthropic-ai/claude-code",
		Tested:  "2.1.328",
		Options: []string{"--print", "--input-format", "--output-format", "--verbose",
			"--include-partial-messages", "--model",
			"--system-prompt", "--system-prompt-snapshot", "--append-system-prompt", "--json-schema",
			"--resume", "--fork-session", "--no-session-persistence", "--max-budget-usd",
			"--mcp-config", "--strict-mcp-config", "--tools", "--allowedTools", "--disallowedTools",
			"--permission-mode", "--dangerously-skip-permissions", "--setting-sources", "--add-dir"},
		Help: []string{"--help"},
		Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_FOUNDRY_API_KEY",
			"ANTHROPIC_CUSTOM_HEADERS",
			"AWS_BEARER_TOKEN_BEDROCK", "CLAUDE_CODE_*"},
		Env: map[string]string{
			"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1", // otherwise claude may give its result before the work is done
			"DISABLE_AUTOUPDATER":                  "1", // keeps all attempts at one version
		},
	}
}

// Check returns an error for an assignment that claude would refuse at its start.
func (c adapter) Check(a agent.Assignment) error {
	if _, err := c.Tool().Start(a); err != nil {
		return err
	}
	if err := c.checkRoot(a); err != nil {
		return err
	}
	_, err := a.Servers()
	return err
}

// checkRoot returns an error if claude would have to skip permissions as root outside a sandbox,
// which claude refuses.
func (c adapter) checkRoot(a agent.Assignment) error {
	if c.euid != 0 || !grantFor(a).asksNothing() || sandboxed(a.Env) {
		return nil
	}
	return &agent.ConfigError{
		Text: "claude does not skip permissions for root",
		Fix: "run as another user; or, in a container that may be lost, set IS_SANDBOX: \"1\" under env.set; " +
			"or give the role permission: edit",
	}
}

func sandboxed(env []string) bool {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "IS_SANDBOX="); ok {
			return value == "1" || strings.EqualFold(value, "true")
		}
	}
	return false
}

// Invoke describes how to start claude. The command line has no --session-id, because a retry has
// the same command line, and claude takes each ID only once.
func (c adapter) Invoke(a agent.Assignment) (agent.Invocation, error) {
	inv, err := c.start(a, (*commandLine).schema)
	inv.Stdin, inv.Listens, inv.Timeout = c.Message(string(a.Ask())), true, a.Timeout
	return inv, err
}

// start describes how to start a claude that reads messages from standard input. The last parameter
// is a function that adds the caller's own options.
func (c adapter) start(a agent.Assignment, more func(*commandLine, contract.Kind)) (agent.Invocation, error) {
	argv, err := c.Tool().Start(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	l := commandLine{argv: argv, scratch: a.Scratch}
	// Without partial messages, a model that writes for minutes would look hung.
	l.add("--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--include-partial-messages")
	grant := grantFor(a)
	l.add(grant.args()...)
	confined, env := grant.confine(a)
	l.add(confined...)
	l.option("--model", a.Model)
	l.prompt(a)
	more(&l, a.Contract)
	l.follow(a.Follow)
	l.limits(a)
	l.mcp(a)
	l.args(a)
	if l.err != nil {
		return agent.Invocation{}, fmt.Errorf("command line of claude: %w", l.err)
	}
	return agent.Invocation{Argv: l.argv, Env: env, Dir: a.Dir, Grace: a.Grace, Files: l.files}, nil
}

func (adapter) Reader(c contract.Kind, h agent.Host) agent.Reader { return newReader(c, h) }
