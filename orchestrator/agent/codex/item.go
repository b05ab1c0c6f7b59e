package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"kanban-run/orchestrator/agent"
)

// item is a part of a turn: a message of the model, or a tool call.
type item struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Text     string `json:"text"`    // text of a message
	Message  string `json:"message"` // text of a warning
	Command  string `json:"command"`
	ExitCode *int   `json:"exit_code"`
	Status   string `json:"status"`
	Server   string `json:"server"` // name of an MCP server
	Tool     string `json:"tool"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Output    string          `json:"aggregated_output"` // output of a command
	Arguments json.RawMessage `json:"arguments"`         // arguments of an MCP call
	Result    json.RawMessage `json:"result"`
	Query     string          `json:"query"`
	Changes   []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
}

// tool returns the name of the item's tool and the subject of its call. Both are "" for an item
// that is no call.
func (i item) tool() (name, what string) {
	switch i.Type {
	case "command_execution":
		return "command", plainCommand(i.Command)
	case "file_change":
		return "file_change", i.paths()
	case "mcp_tool_call":
		return "mcp:" + i.Server, i.Tool
	case "web_search":
		return "web_search", i.Query
	default:
		if strings.HasSuffix(i.Type, "_tool_call") {
			return i.Type, i.Tool
		}
		return "", ""
	}
}

// plainCommand returns a command without the shell in which codex runs it. For instance, it turns
// "bash -lc 'make test'" into "make test".
func plainCommand(command string) string {
	shell, script, found := strings.Cut(command, " -lc ")
	if !found || strings.ContainsAny(shell, " \t") {
		return command
	}
	if n := len(script); n >= 2 && (script[0] == '\'' || script[0] == '"') && script[n-1] == script[0] &&
		!strings.ContainsRune(script[1:n-1], rune(script[0])) {
		return script[1 : n-1]
	}
	return script
}

func (i item) paths() string {
	var all []string
	for _, c := range i.Changes {
		all = append(all, c.Kind+" "+c.Path)
	}
	return strings.Join(all, ", ")
}

// class returns the class of the item's tool.
func (i item) class() agent.ToolClass {
	switch i.Type {
	case "command_execution":
		return agent.ShellTool
	case "file_change":
		return agent.EditTool
	case "mcp_tool_call":
		return agent.MCPTool
	case "web_search":
		return agent.WebTool
	default:
		return agent.OtherTool
	}
}

func (i item) inputSum() uint32 {
	name, what := i.tool()
	return agent.Sum([]byte(name + "\n" + what + "\n" + string(i.Arguments)))
}

func (i item) resultSum() uint32 {
	return agent.Sum([]byte(i.failure() + "\n" + i.Output + "\n" + string(i.Result)))
}

// failure returns the reason for a call's failure, or "" if the call succeeded.
func (i item) failure() string {
	switch {
	case i.Status == "completed":
		return ""
	case i.ExitCode != nil:
		return fmt.Sprintf("exit status %d", *i.ExitCode)
	case i.Error.Message != "":
		said, _, _ := strings.Cut(i.Error.Message, "Stack backtrace:")
		return agent.EventText(strings.TrimSpace(said))
	default:
		return i.Status
	}
}
