package flow

import (
	"fmt"
	"slices"
)

// OnTool is what becomes of an agent whose tool is not there: seed 002, "Tool Unavailability".
type OnTool string

// The values of OnTool: seed 002's skip, retry and proceed with caveat, and the end of the run.
const (
	ToolCaveat OnTool = "caveat" // it goes on, and the run says so
	ToolRetry  OnTool = "retry"  // it is started again once, where it was
	ToolSkip   OnTool = "skip"   // it is told to do without
	ToolStop   OnTool = "stop"   // the run ends, and a person decides
)

// ToolUnavailable says that a tool, a server or a program was not there for an agent.
type ToolUnavailable struct {
	AttemptRef
	Tool   string `json:"tool"`
	Agent  string `json:"agent"`              // the adapter of its program
	Reason string `json:"reason" text:"free"` // in the words of the agent's tool
	Then   OnTool `json:"then"`
	Agents int    `json:"agents"` // in this run that missed it, with this one
}

// SystemicAgents is for how many agents the same tool has to be missing to be a fault of the
// system: seed 002, "Tool Unavailability", action 3.
const SystemicAgents = 3

// Kind is the record's type in the journal.
func (ToolUnavailable) Kind() string { return "TOOL_UNAVAILABLE" }

// MissingTool is a tool that was not there for agents of this run.
type MissingTool struct {
	Tool   string `json:"tool"`
	Agents int    `json:"agents"`
	Last   string `json:"last"` // call that missed it
}

const mostTools = 64

// Misses are the agents that missed a tool before a call; known says that this one is among them.
func (s *State) Misses(tool string, r AttemptRef) (agents int, known bool) {
	for _, m := range s.Tools {
		if m.Tool == tool {
			return m.Agents, m.Last == callKey(r)
		}
	}
	return 0, false
}

func callKey(r AttemptRef) string { return fmt.Sprintf("%d %s", r.Step, r.Call) }

func (e ToolUnavailable) apply(s *State) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Tools = slices.DeleteFunc(slices.Clone(s.Tools), func(m MissingTool) bool { return m.Tool == e.Tool })
	s.Tools = append(s.Tools, MissingTool{e.Tool, e.Agents, callKey(e.AttemptRef)})
	s.Tools = s.Tools[max(0, len(s.Tools)-mostTools):]
	return nil
}
