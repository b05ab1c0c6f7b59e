// Package opencode is the adapter for opencode. Each attempt is one `opencode run --format json`.
package opencode

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// New returns the adapter.
func New() agent.Adapter { return adapter{} }

type adapter struct{}

func (adapter) Name() string { return "opencode" }

// Check returns an error for a role option that opencode lacks.
func (adapter) Check(a agent.Assignment) error {
	if err := a.Support("opencode", "review", "model", "tools", "permission"); err != nil {
		return err
	}
	if _, _, err := permissionFor(a.Permission); err != nil {
		return err
	}
	_, err := tool().Start(a)
	return err
}

// Invoke returns the start of opencode. The prompt goes to standard input, because opencode would
// quote it once more if it were an argument. opencode prints its log, because only the log reports
// a wait for a limit. The role's prompt goes before the input, because opencode has no option for a
// system prompt.
func (adapter) Invoke(a agent.Assignment) (agent.Invocation, error) {
	argv, err := tool().Start(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	options, rules, err := permissionFor(a.Permission)
	if err != nil {
		return agent.Invocation{}, err
	}
	argv = append(append(argv, "run", "--format", "json", "--print-logs", "--log-level", "ERROR"), options...)
	if a.Model != "" {
		argv = append(argv, "-m", a.Model)
	}
	argv = append(argv, a.Args...)
	if f := a.Follow; f != nil {
		argv = append(argv, "--session", f.Session)
		if f.Fork {
			argv = append(argv, "--fork")
		}
	}
	return agent.Invocation{Argv: argv, Stdin: a.AskWithRole(), Env: confined(withRules(a.Env, rules), a.Dir, rules), Dir: a.Dir,
		Timeout: a.Timeout, Grace: a.Grace}, nil
}

func (adapter) Reader(kind contract.Kind, host agent.Host) agent.Reader {
	r := &reader{kind: kind, giveUp: host.GiveUp}
	r.Init(host.Emit, r.readEvent)
	return r
}

func (adapter) Tool() agent.Tool { return tool() }

func tool() agent.Tool {
	return agent.Tool{
		Program: "opencode",
		Permits: true,
		Resumes: true,
		Signals: agent.Signals{Session: true, Apart: true},
		Ignores: []string{"tools"},
		Install: "npm install -g opencode-ai",
		Tested:  "1.18.33",
		Options: []string{"--format", "--print-logs", "--log-level", "--auto", "--model", "--session", "--fork"},
		Help:    []string{"run", "--help"},
		Keys: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
			"OPENROUTER_API_KEY", "OPENCODE_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY",
			"XAI_API_KEY", "AZURE_API_KEY"},
		Env: map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1"},
	}
}

// permissionVariable is the environment variable for rules that take precedence over opencode's
// settings.
const permissionVariable = "OPENCODE_PERMISSION"

// permissionFor returns the options and rules for a permission. The rules remove some tools.
// Without --auto, opencode refuses an action that would need a person's consent. Errors:
// *agent.ConfigError.
func permissionFor(p agent.Permission) (options []string, rules string, err error) {
	switch p {
	case agent.ReadOnly:
		return nil, `{"edit":"deny","bash":"deny"}`, nil
	case agent.Edit:
		return nil, `{"edit":"allow","bash":"deny"}`, nil
	case agent.Full, "":
		return []string{"--auto"}, "", nil
	default:
		return nil, "", &agent.ConfigError{Text: fmt.Sprintf("opencode knows no permission %q", p),
			Fix: "read-only, edit and full are known"}
	}
}

// confined returns the environment of an opencode that may not run commands: the project's settings,
// plugins, tools and MCP servers, which an agent may have written, do not count, but the project's
// instructions do. An environment with settings of its own in configVariable keeps them, and gets no
// instructions.
func confined(env []string, dir, rules string) []string {
	if rules == "" {
		return env
	}
	env = append(env, "OPENCODE_DISABLE_PROJECT_CONFIG=1")
	if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, configVariable+"=") }) {
		return env
	}
	settings, err := json.Marshal(map[string][]string{
		"instructions": {filepath.Join(dir, "AGENTS.md"), filepath.Join(dir, "CLAUDE.md")},
	})
	if err != nil {
		return env
	}
	return append(env, configVariable+"="+string(settings))
}

// configVariable is the environment variable with settings of opencode, in JSON.
const configVariable = "OPENCODE_CONFIG_CONTENT"

// withRules returns the environment env with new rules in place of its old rules. If the string
// rules is "", it returns env unchanged.
func withRules(env []string, rules string) []string {
	if rules == "" {
		return env
	}
	isOld := func(e string) bool { return strings.HasPrefix(e, permissionVariable+"=") }
	return append(slices.DeleteFunc(slices.Clone(env), isOld), permissionVariable+"="+rules)
}
