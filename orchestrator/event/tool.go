package event

import (
	"cmp"
	"fmt"
	"strings"
)

// OnTool is the consequence for an agent whose tool is not available: seed 002, "Tool
// Unavailability".
type OnTool string

// The values of OnTool. Seed 002 has "skip", "retry" and "proceed with caveat". It does not have
// ToolStop.
const (
	ToolCaveat OnTool = "caveat" // the agent goes on, and the run warns
	ToolRetry  OnTool = "retry"  // the agent is ended, and goes on once more in its session
	ToolSkip   OnTool = "skip"   // the agent is told to do without the tool
	ToolStop   OnTool = "stop"   // the run ends, and a person decides
)

// ToolStopped is the beginning of the reason why a missing tool has stopped a step.
const ToolStopped = "TOOL_UNAVAILABLE: "

// ToolOver stands in ToolUnavailable for the consequence for an agent that has given its reply or
// has ended. No setting has this value.
const ToolOver OnTool = "over"

// ToolUnavailable is a tool, a server or a program that was not available to an agent.
type ToolUnavailable struct {
	AttemptRef
	Tool   string `json:"tool"`
	Agent  string `json:"agent"`  // adapter of the agent
	Reason string `json:"reason"` // words of the agent's program
	Then   OnTool `json:"then"`
	Agents int    `json:"agents"` // number of agents that missed the tool in this run
}

func (ToolUnavailable) Kind() string { return "TOOL_UNAVAILABLE" }

// Cause returns the tool. Messages about the same tool count as one, however many tasks miss it.
func (e ToolUnavailable) Cause() string { return e.Tool }

func (e ToolUnavailable) Sentence() Sentence {
	s := inStep(e.Step, Warning, "the tool %s is not there for %s (%s): %s%s",
		e.Tool, e.Player(), e.Agent, Brief(e.Reason), e.Then.suffix()).
		tell(0, AboutTool).alert(AlertWarning, e.Kind(), e.Role)
	if e.Agents == SystemicAgents { // not >=, so that the Lead is told only once
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
	case ToolOver:
		return "; the agent has finished"
	default:
		return "; the agent goes on"
	}
}

// ToolsUsed is the use of tools by the running attempt. It is journaled before the end of the
// attempt. The event changes no state.
type ToolsUsed struct {
	AttemptRef
	ToolWork
}

func (ToolsUsed) Kind() string { return "TOOLS_USED" }

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

// ToolWork is the use of tools by an attempt, as the agent's program reports it.
type ToolWork struct {
	Uses []ToolUse `json:"uses"` // the tool that took longest comes first
	// Spans are the times in which a call was open, in order. Short spans may be missing.
	Spans []ToolSpan `json:"spans"`
}

// ToolUse sums up the calls of one tool.
type ToolUse struct {
	Tool    string `json:"tool"` // name; "" for the sum of all further tools
	Calls   int    `json:"calls"`
	Failed  int    `json:"failed,omitempty"`
	Millis  int64  `json:"millis"`         // ms of all calls together
	Longest int64  `json:"longest_millis"` // ms of the longest call
}

// ToolSpan is a time in which a call was open. From is the time from the start of the attempt.
type ToolSpan struct {
	From   int64 `json:"from_millis"`
	Millis int64 `json:"millis"`
}

// SystemicAgents is a number of agents. If so many agents miss the same tool in one run, the fault
// is in the system: seed 002, "Tool Unavailability", action 3.
const SystemicAgents = 3
