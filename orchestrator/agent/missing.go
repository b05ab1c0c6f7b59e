package agent

import (
	"regexp"
	"strings"
)

// The texts of tools about a missing tool or program.
var (
	unknownTool    = regexp.MustCompile(`^(?:<tool_use_error>)?(?:Error: )?No such tool available: ([^\s<]+)`)
	unknownCommand = regexp.MustCompile(`(?m)(?:^|[:\s])([^\s:]+): (?:command )?not found\s*$`)
	exit127        = regexp.MustCompile(`(?i)^exit (?:code|status):? 127\b`)
	// by the requested page
	answered     = regexp.MustCompile(`(?i)\bstatus(?: code)?:? [1-5]\d\d\b|\b404\b`)
	closedServer = regexp.MustCompile(`(?i)transport closed|connection closed|not connected|failed to start`)
)

// WithMissing returns the end of a call with the missing tool, server or program, if the call
// failed. said is the call's result.
func (e Event) WithMissing(said string) Event {
	if e.Failed {
		e.Missing = missing(e.Class, e.Tool, said)
	}
	return e
}

// missing returns the tool, server or program that a call's result names as missing; "" if the call
// failed in another way: seed 002, "Tool Unavailability". A model's words do not count.
func missing(class ToolClass, tool, said string) string {
	if m := unknownTool.FindStringSubmatch(said); m != nil {
		return serverOf(EventText(m[1]))
	}
	switch class {
	case ShellTool:
		if !exit127.MatchString(said) {
			return ""
		}
		if m := unknownCommand.FindStringSubmatch(said); m != nil {
			return EventText(m[1])
		}
		return "a command of " + tool
	case MCPTool:
		if closedServer.MatchString(said) {
			return serverOf(tool)
		}
	case WebTool:
		if !answered.MatchString(said) {
			return tool
		}
	}
	return ""
}

// serverOf returns the MCP server of a tool: mcp:lab for mcp__lab__quick.
func serverOf(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return "mcp:" + server
	}
	return tool
}
