package claude

import (
	"encoding/json"
	"fmt"

	"kanban-run/orchestrator/agent"
)

// Talk returns the command line of a conversation: claude reads messages until its input is closed,
// and prints a result for each. Source: seed 003, "启动 Agent pty".
func (c adapter) Talk(a agent.Assignment) (agent.Invocation, error) {
	argv, err := c.Tool().Start(a)
	if err != nil {
		return agent.Invocation{}, err
	}
	l := commandLine{argv: argv, scratch: a.Scratch}
	l.add("--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
	l.add(grantFor(a).args()...)
	l.option("--model", a.Model)
	l.prompt(a)
	l.follow(a.Follow)
	l.limits(a)
	l.mcp(a)
	l.args(a)
	if l.err != nil {
		return agent.Invocation{}, fmt.Errorf("command line of claude: %w", l.err)
	}
	return agent.Invocation{Argv: l.argv, Env: a.Env, Dir: a.Dir, Grace: a.Grace, Files: l.files}, nil
}

// Message returns a line for claude's input.
func (adapter) Message(text string) []byte {
	type part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type content struct {
		Role    string `json:"role"`
		Content []part `json:"content"`
	}
	return encode(struct {
		Type    string  `json:"type"`
		Message content `json:"message"`
	}{"user", content{"user", []part{{"text", text}}}})
}

// Interrupt returns a line for claude's input. The current turn ends with a result.
func (adapter) Interrupt() []byte {
	return []byte(`{"type":"control_request","request_id":"interrupt","request":{"subtype":"interrupt"}}` + "\n")
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always can be
	}
	return append(data, '\n')
}
