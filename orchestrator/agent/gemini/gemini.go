// Package gemini is the adapter for the Gemini CLI of Google. Each attempt is one `gemini -o
// stream-json`.
package gemini

import (
	"fmt"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// New returns the adapter.
func New() agent.Adapter { return adapter{} }

type adapter struct{}

func (adapter) Name() string { return "gemini" }

// Check returns an error for a role option that gemini lacks. A review is such an option, because
// gemini cannot fork a session.
func (adapter) Check(a agent.Assignment) error {
	if err := a.Support("gemini", "model", "tools", "permission"); err != nil {
		return err
	}
	if _, err := approvalMode(a.Permission); err != nil {
		return err
	}
	_, err := tool().Start(a)
	return err
}

// Invoke returns the start of gemini. The role's prompt goes before the input, because as a system
// prompt it would replace gemini's own, which describes the tools.
func (adapter) Invoke(a agent.Assignment) (agent.Invocation, error) {
	argv, err := tool().Start(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	mode, err := approvalMode(a.Permission)
	if err != nil {
		return agent.Invocation{}, err
	}
	argv = append(argv, "-o", "stream-json", "--approval-mode", mode)
	if a.Model != "" {
		argv = append(argv, "-m", a.Model)
	}
	return agent.Invocation{Argv: append(argv, a.Args...), Stdin: a.AskWithRole(), Env: a.Env, Dir: a.Dir,
		Timeout: a.Timeout, Grace: a.Grace}, nil
}

func (adapter) Reader(kind contract.Kind, host agent.Host) agent.Reader {
	r := &reader{kind: kind, tools: map[string]string{}, giveUp: host.GiveUp}
	r.Init(host.Emit, r.readEvent)
	return r
}

func (adapter) Tool() agent.Tool { return tool() }

func tool() agent.Tool {
	return agent.Tool{
		Signals: agent.Signals{Session: true, Calls: true},
		Program: "gemini",
		Permits: true,
		Project: []string{".gemini/settings.json"},
		Ignores: []string{"tools"},
		Install: "npm install -g @google/gemini-cli",
		Tested:  "0.61.0",
		Options: []string{"--output-format", "--approval-mode", "--model"},
		Help:    []string{"--help"},
		Keys:    []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"},
		// Without these variables a person would have to trust the folder at a terminal, and gemini
		// would start itself again with more memory.
		Env: map[string]string{"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"},
	}
}

// approvalMode returns the mode for a permission. gemini refuses an action that would need a
// person's consent. Errors: *agent.ConfigError.
func approvalMode(p agent.Permission) (string, error) {
	switch p {
	case agent.ReadOnly:
		return "plan", nil
	case agent.Edit:
		return "auto_edit", nil
	case agent.Full, "":
		return "yolo", nil
	default:
		return "", &agent.ConfigError{Text: fmt.Sprintf("gemini knows no permission %q", p),
			Fix: "read-only, edit and full are known"}
	}
}
