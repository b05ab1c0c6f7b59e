package event

import (
	"cmp"
	"fmt"
	"strings"
)

// OnTool is the consequence for an agent whose tool is not available: seed 002, "Tool
// Unavailability".
type OnTool string

// The values of OnTool: seed 002's skip, retry and proceed with caveat, and the end of the run.
const (
	ToolCaveat OnTool = "caveat" // it goes on, and the run says so
	ToolRetry  OnTool = "retry"  // it is ended, and goes on once more in its session
	ToolSkip   OnTool = "skip"   // it is told to do without
	ToolStop   OnTool = "stop"   // the run ends, and a person decides
)

// ToolUnavailable is a tool, a server or a program that was not available to an agent.
type ToolUnavailable struct {
	AttemptRef
	Tool   string `json:"tool"`
	Agent  string `json:"agent"`              // the adapter of its program
	Reason string `json:"reason" text:"free"` // in the words of the agent's tool
	Then   OnTool `json:"then"`
	Agents int    `json:"agents"` // of this run that missed the tool, with this one
}

// Kind implements [Event].
func (ToolUnavailable) Kind() string { return "TOOL_UNAVAILABLE" }

// Cause returns the tool. It is one trouble, however many tasks meet it.
func (e ToolUnavailable) Cause() string { return e.Tool }

// Sentence implements [Event].
func (e ToolUnavailable) Sentence() Sentence {
	s := inStep(e.Step, Warning, "TOOL_UNAVAILABLE: %s for %s (%s): %s%s",
		e.Tool, e.Player(), e.Agent, Brief(e.Reason), e.Then.suffix()).
		tell(0, AboutTool).alert(AlertWarning, e.Kind(), e.Role)
	if e.Agents == SystemicAgents { // told once
		s = s.alert(AlertCritical, e.Kind(), e.Role, escalate)
		s.For = Lead | Team
		s.Add(Critical, fmt.Sprintf(
			"%s is not there for %d agents of this run: look at the machine, and not at the tasks",
			e.Tool, e.Agents))
	}
	return s
}

// suffix returns the consequence for the agent as the end of a sentence.
func (t OnTool) suffix() string {
	switch t {
	case ToolRetry:
		return "; the agent is started again, where it was"
	case ToolSkip:
		return "; the agent is told to do without"
	case ToolStop:
		return "; the run stops"
	default:
		return "; the agent goes on"
	}
}

// ToolsUsed is the use of tools by the running attempt. It is journaled before the end of the
// attempt, and changes nothing.
type ToolsUsed struct {
	AttemptRef
	ToolWork `text:"free"`
}

// Kind implements [Event].
func (ToolsUsed) Kind() string { return "TOOLS_USED" }

// Sentence implements [Event].
func (e ToolsUsed) Sentence() Sentence {
	parts := make([]string, len(e.Uses))
	for i, u := range e.Uses {
		parts[i] = fmt.Sprintf("%s %s in %s", cmp.Or(u.Tool, "others"), Count(u.Calls, "time"), Took(u.Millis))
		if u.Failed > 0 {
			parts[i] += fmt.Sprintf(" (%d failed)", u.Failed)
		}
	}
	return inStep(e.Step, Trace, "%s used %s", e.Player(), strings.Join(parts, ", "))
}

// ToolWork is an attempt's use of tools, as its program tells it.
type ToolWork struct {
	Uses  []ToolUse  `json:"uses" text:"free"` // those that took longest first
	Spans []ToolSpan `json:"spans"`            // times with an open call, in their order; short ones may be missing
}

// ToolUse sums up the calls of one tool.
type ToolUse struct {
	Tool    string `json:"tool" text:"free"` // its name; "": all further tools, too many to tell apart
	Calls   int    `json:"calls"`
	Failed  int    `json:"failed,omitempty"`
	Millis  int64  `json:"millis"`         // the time of all its calls, added up
	Longest int64  `json:"longest_millis"` // of the longest call
}

// ToolSpan is a time in which a call was open, from the start of the attempt.
type ToolSpan struct {
	From   int64 `json:"from_millis"`
	Millis int64 `json:"millis"`
}

// SystemicAgents is the number of agents at which a tool that they all miss is a fault of the
// system: seed 002, "Tool Unavailability", action 3.
const SystemicAgents = 3
