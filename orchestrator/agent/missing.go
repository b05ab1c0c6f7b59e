package agent

import (
	"regexp"
	"strings"
)

// What tools print of what is not there.
var (
	unknownTool    = regexp.MustCompile(`^(?:<tool_use_error>)?(?:Error: )?No such tool available: ([^\s<]+)`)
	unknownCommand = regexp.MustCompile(`(?m)(?:^|[:\s])([^\s:]+): (?:command )?not found\s*$`)
	exit127        = regexp.MustCompile(`(?i)^exit (?:code|status):? 127\b`)
	// by the page that was asked for
	answered     = regexp.MustCompile(`(?i)\bstatus(?: code)?:? [1-5]\d\d\b|\b404\b`)
	closedServer = regexp.MustCompile(`(?i)transport closed|connection closed|not connected|failed to start`)
)

// WithMissing is the end of a call with what was not there, if it failed; said
// is what the call came to.
func (e Event) WithMissing(said string) Event {
	if e.Failed {
		e.Missing = missing(e.Class, e.Tool, said)
	}
	return e
}

// missing is the tool, server or program that was not there when a call failed, by what the
// call came to; "" where it failed in another way: seed 002, "Tool Unavailability". The
// words of a model say nothing.
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

// serverOf is the MCP server of a tool: mcp:lab of mcp__lab__quick.
func serverOf(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return "mcp:" + server
	}
	return tool
}
