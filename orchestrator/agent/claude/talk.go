package claude

import (
	"encoding/json"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// Talk returns the command line of a conversation, in which claude reads messages until its input
// is closed, and prints a result for each. Source: seed 003, "启动 Agent pty".
func (c adapter) Talk(a agent.Assignment) (agent.Invocation, error) {
	return c.start(a, func(*commandLine, contract.Kind) {})
}

// user is a line for claude's input that holds a message. Claude reports the delivery of a message
// that has an ID.
type user struct {
	Type    string  `json:"type"`
	Message content `json:"message"`
	ID      string  `json:"uuid,omitempty"`
}

type content struct {
	Role    string `json:"role"`
	Content []part `json:"content"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Message returns the line that sends a message without an ID.
func (c adapter) Message(text string) []byte { return c.Tell("", text) }

// Tell returns the line that sends a message. Claude gives the message to its model within the
// turn, at the end of the open call. A message that arrives while the model writes its last text
// gets a turn of its own.
func (adapter) Tell(id, text string) []byte {
	return encode(user{"user", content{"user", []part{{"text", text}}}, id})
}

// control is a line for claude's input that holds a request to the program, not to its model.
type control struct {
	Type    string  `json:"type"`
	ID      string  `json:"request_id"`
	Request request `json:"request"`
}

type request struct {
	Subtype  string `json:"subtype"`
	Question string `json:"question,omitempty"`
	Message  string `json:"message_uuid,omitempty"`
	Server   string `json:"serverName,omitempty"`
}

func (r request) line(id string) []byte { return encode(control{"control_request", id, r}) }

// Interrupt returns the line that ends the current turn. Claude then prints a result.
func (adapter) Interrupt() []byte { return request{Subtype: "interrupt"}.line("interrupt") }

// Ask returns the line that asks a question. Claude asks its model at any time, even during a call,
// and keeps no trace of the question in the session.
func (adapter) Ask(id, question string) []byte {
	return request{Subtype: "side_question", Question: question}.line(id)
}

// Withdraw returns the line that takes back a message.
func (adapter) Withdraw(id string) []byte {
	return request{Subtype: "cancel_async_message", Message: id}.line("withdraw")
}

// EndCall returns the line that restarts the server of an MCP tool, which ends all calls of the
// server with an error. It returns nil for any other tool.
func (adapter) EndCall(tool string) []byte {
	server, ok := strings.CutPrefix(tool, "mcp__")
	if server, _, _ = strings.Cut(server, "__"); !ok || server == "" {
		return nil
	}
	return request{Subtype: "mcp_reconnect", Server: server}.line("reconnect")
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen, because strings can always be encoded
	}
	return append(data, '\n')
}
