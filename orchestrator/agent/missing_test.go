package agent

import "testing"

// TestMissing: seed 002, "Tool Unavailability": what a failed call says of a tool that is not
// there. The texts are those of the recorded streams.
func TestMissing(t *testing.T) {
	for _, tt := range []struct {
		class      ToolClass
		tool, said string
		want       string
	}{
		{OtherTool, "NoSuchTool", "<tool_use_error>Error: No such tool available: NoSuchTool</tool_use_error>", "NoSuchTool"},
		{MCPTool, "mcp__lab__quick", "<tool_use_error>Error: No such tool available: mcp__lab__quick</tool_use_error>", "mcp:lab"},
		{MCPTool, "mcp__lab__quick", "MCP error -32000: Connection closed", "mcp:lab"},
		{MCPTool, "mcp:lab", "tool call error: tool call failed for `lab/hang`\n\nCaused by:\n    Transport closed", "mcp:lab"},
		{MCPTool, "mcp:lab", "tool call error: timed out awaiting tools/call after 5s", ""},
		{MCPTool, "mcp:lab", "wrong argument", ""},
		{ShellTool, "Bash", "Exit code 127\n/bin/bash: line 1: nosuchcmd: command not found", "nosuchcmd"},
		{ShellTool, "command", "exit status 127\nsh: 1: nosuch: not found\n", "nosuch"},
		{ShellTool, "command", "exit status 127\n", "a command of command"},
		{ShellTool, "Bash", "Exit code 1\nx: command not found", ""},
		{ShellTool, "Bash", "Exit code 1270", ""},
		{WebTool, "WebFetch", "Unable to verify if domain example.com is safe to fetch", "WebFetch"},
		{WebTool, "WebFetch", "Request failed with status code 404", ""},
		{ShellTool, "Bash", "Exit code 1\nFAIL: expected exit status 127, got 0", ""},
		{OtherTool, "Read", "1 x\n2 No such tool available: y", ""},
		{EditTool, "Edit", "String to replace not found in file", ""},
	} {
		if got := missing(tt.class, tt.tool, tt.said); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.tool, tt.said, got, tt.want)
		}
	}
}
