package agent

import (
	"regexp"
	"strings"
)

// The texts in which tools report a missing tool or program.
var (
	unknownTool    = regexp.MustCompile(`^(?:<tool_use_error>)?(?:Error: )?No such tool available: ([^\s<]+)`)
	unknownCommand = regexp.MustCompile(`(?m)(?:^|[:\s])([^\s:]+): (?:command )?not found\s*$`)
	exit127        = regexp.MustCompile(`(?i)^exit (?:code|status):? 127\b`)
	// answered matches the HTTP status of a web page, which shows that the tool itself is not
	// missing.
	answered     = regexp.MustCompile(`(?i)\bstatus(?: code)?:? [1-5]\d\d\b|\b404\b`)
	closedServer = regexp.MustCompile(`(?i)transport closed|connection closed|not connected|failed to start`)
)

// WithMissing returns the event of an ended call. The parameter "said" is the result of the call.
// If the call failed, WithMissing sets Missing to the tool, server or program that the result
// reports as missing.
func (e Event) WithMissing(said string) Event {
	if e.Failed {
		e.Missing = missing(e.Class, e.Tool, said)
	}
	return e
}

// missing returns the tool, server or program that the result of a failed call names as missing. It
// returns "" if the call failed in another way. The words of a model do not count. Source: seed
// 002, "Tool Unavailability".
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

// serverOf returns the MCP server of a tool, such as mcp:lab for mcp__lab__quick. It returns the
// name of any other tool unchanged.
func serverOf(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return "mcp:" + server
	}
	return tool
}
