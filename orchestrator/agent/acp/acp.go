// Package acp is the adapter for programs that speak the Agent Client Protocol over their standard
// streams. The protocol is a dialogue, but an adapter's program gets all of its input at once. So
// the adapter starts kanban-run itself, as the client. The client starts the agent, holds the
// dialogue and prints the events, one JSON object a line.
package acp

import (
	"encoding/json"
	"slices"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// New returns the adapter. The parameter executable is the path of kanban-run itself.
func New(executable string) agent.Adapter { return adapter{executable} }

type adapter struct{ executable string }

func (adapter) Name() string { return "acp" }

// Check returns an error for a role option that the protocol lacks. The permission decides only how
// the client answers the agent's requests, so it does not limit an agent that sends no requests.
func (c adapter) Check(a agent.Assignment) error {
	if err := a.Support("an acp agent", "model", "tools", "permission"); err != nil {
		return err
	}
	if !isKnown(a.Permission) {
		return &agent.ConfigError{Text: "acp knows no permission " + string(a.Permission),
			Fix: "read-only, edit and full are known"}
	}
	_, err := agentCommand(a)
	return err
}

func (c adapter) Invoke(a agent.Assignment) (agent.Invocation, error) {
	return c.invoke(a, []string{c.executable, ClientCommand}, a.AskWithRole())
}

// Stay describes how to start a client that stays between prompts. The client sends each message
// as one prompt in the same session.
func (c adapter) Stay(a agent.Assignment) (agent.Invocation, error) {
	text := a.Ask()
	if a.Follow == nil {
		text = a.AskWithRole()
	}
	line, err := json.Marshal(message{Prompt: string(text)})
	if err != nil {
		return agent.Invocation{}, err
	}
	return c.invoke(a, []string{c.executable, ClientCommand, "--stay"}, append(line, '\n'))
}

// Turn returns a reader of the answer to one prompt.
func (c adapter) Turn(kind contract.Kind, host agent.Host) agent.Reader { return c.Reader(kind, host) }

func (adapter) invoke(a agent.Assignment, argv []string, stdin []byte) (agent.Invocation, error) {
	program, err := agentCommand(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	if a.Permission != "" {
		argv = append(argv, "--permission", string(a.Permission))
	}
	if a.Model != "" {
		argv = append(argv, "--model", a.Model)
	}
	argv = slices.Concat(append(argv, "--"), program, a.Args)
	return agent.Invocation{Argv: argv, Stdin: stdin, Env: a.Env, Dir: a.Dir,
		Timeout: a.Timeout, Grace: a.Grace}, nil
}

func (adapter) Reader(kind contract.Kind, host agent.Host) agent.Reader {
	r := &reader{kind: kind}
	r.Init(host.Emit, r.readEvent)
	return r
}

// Tool returns no program name, version or keys, because the agent may be any program.
func (adapter) Tool() agent.Tool {
	return agent.Tool{Permits: true, Ignores: []string{"tools"}, Signals: agent.Signals{Session: true, Calls: true}}
}

// agentCommand returns the role's command, with the path of its program in place of the name.
// Errors: *agent.ConfigError.
func agentCommand(a agent.Assignment) ([]string, error) {
	if len(a.Command) == 0 || a.Command[0] == "" {
		return nil, &agent.ConfigError{Text: "no command is set for the acp agent",
			Fix: "give one as command in the role file, for instance [gemini, --acp], " +
				"or for all roles with --agent acp --exec 'COMMAND ARGS', " +
				"or for one with --agent ROLE=acp --exec ROLE='COMMAND ARGS'"}
	}
	path, err := a.LookPath(a.Command[0])
	return append([]string{path}, a.Command[1:]...), err
}
