package flow

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

// MissingTool is a tool that was not available to agents of this run.
type MissingTool struct {
	Tool   string `json:"tool"`
	Agents int    `json:"agents"`
	Last   string `json:"last"` // callKey of the last call that missed the tool
}

const mostTools = 64

// Misses returns the number of agents that missed a tool. known is true if the call of r was the
// last to miss the tool, so that it is counted already.
func (s *State) Misses(tool string, r event.AttemptRef) (agents int, known bool) {
	for _, m := range s.Tools {
		if m.Tool == tool {
			return m.Agents, m.Last == callKey(r)
		}
	}
	return 0, false
}

func callKey(r event.AttemptRef) string { return fmt.Sprintf("%d %s", r.Step, r.Call) }

func (s *State) applyToolUnavailable(e event.ToolUnavailable) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Tools = slices.DeleteFunc(slices.Clone(s.Tools), func(m MissingTool) bool { return m.Tool == e.Tool })
	s.Tools = append(s.Tools, MissingTool{e.Tool, e.Agents, callKey(e.AttemptRef)})
	s.Tools = s.Tools[max(0, len(s.Tools)-mostTools):]
	return nil
}
