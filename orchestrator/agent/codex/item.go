package codex

import "strings"

// item is a part of a turn: a message of the model, or a tool call.
type item struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Text     string `json:"text"`    // of a message
	Message  string `json:"message"` // of a warning
	Command  string `json:"command"`
	ExitCode *int   `json:"exit_code"`
	Status   string `json:"status"`
	Server   string `json:"server"` // of MCP
	Tool     string `json:"tool"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
}

// tool returns the name of the item's tool and its task; "" for none.
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

// plainCommand is a command without the shell that codex runs it in: bash -lc 'make test'.
func plainCommand(command string) string {
	shell, script, found := strings.Cut(command, " -lc ")
	if !found || strings.ContainsAny(shell, " \t") {
		return command
	}
	if n := len(script); n >= 2 && (script[0] == '\'' || script[0] == '"') && script[n-1] == script[0] && !strings.ContainsRune(script[1:n-1], rune(script[0])) {
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

func (i item) outcome() string {
	if i.Status == "completed" {
		return ""
	}
	return i.Status
}
