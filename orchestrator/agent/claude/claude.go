// Package claude is the adapter for Claude Code: it runs `claude -p` for one attempt and reads a
// reply, or the failure, from its stream of JSON lines.
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
	euid int // of this process; -1 if users have no numbers
}

func (adapter) Name() string { return "claude" }

// Tool names the version and options that the adapter relies on. Of other clouds' keys only
// Claude's own passes: AWS_SECRET_ACCESS_KEY and the like open more than a model, so a person has
// to grant them.
func (adapter) Tool() agent.Tool {
	return agent.Tool{
		Program: "claude",
		Resumes: true,
		Signals: agent.Signals{Session: true, Calls: true, Apart: true},
		Install: "npm install -g @anthropic-ai/claude-code",
		Tested:  "2.1.328",
		Options: []string{"--print", "--input-format", "--output-format", "--verbose",
			"--include-partial-messages", "--model",
			"--system-prompt", "--system-prompt-snapshot", "--append-system-prompt", "--json-schema",
			"--resume", "--fork-session", "--no-session-persistence", "--max-budget-usd",
			"--mcp-config", "--strict-mcp-config", "--tools", "--allowedTools", "--disallowedTools",
			"--permission-mode", "--dangerously-skip-permissions"},
		Help: []string{"--help"},
		Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_FOUNDRY_API_KEY",
			"ANTHROPIC_CUSTOM_HEADERS",
			"AWS_BEARER_TOKEN_BEDROCK", "CLAUDE_CODE_*"},
		Env: map[string]string{
			"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1", // else a result may precede the work
			"DISABLE_AUTOUPDATER":                  "1", // else two attempts may run two versions
		},
	}
}

// Check refuses an assignment that claude would refuse at its start.
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

// checkRoot refuses a run as root outside a sandbox: claude does not skip permissions there.
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

// Invoke returns the command line, without --session-id: claude takes an ID once, and retries are
// byte-identical.
func (c adapter) Invoke(a agent.Assignment) (agent.Invocation, error) {
	inv, err := c.start(a, (*commandLine).schema)
	inv.Stdin, inv.Listens, inv.Timeout = c.Message(string(a.Ask())), true, a.Timeout
	return inv, err
}

// start returns the command line of a claude that reads messages from its standard input, with the
// caller's own options.
func (c adapter) start(a agent.Assignment, more func(*commandLine, contract.Kind)) (agent.Invocation, error) {
	argv, err := c.Tool().Start(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	l := commandLine{argv: argv, scratch: a.Scratch}
	// Without the parts of messages, a model that writes for minutes would look like a hung one.
	l.add("--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--include-partial-messages")
	l.add(grantFor(a).args()...)
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
	return agent.Invocation{Argv: l.argv, Env: a.Env, Dir: a.Dir, Grace: a.Grace, Files: l.files}, nil
}

func (adapter) Reader(c contract.Kind, h agent.Host) agent.Reader { return newReader(c, h) }
