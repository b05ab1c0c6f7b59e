package projection

import (
	"slices"

	"kanban-run/orchestrator/event"
)

// Tool is a tool, a server or a program that agents of the board missed (seed 002, "Tool
// Unavailability", action 4).
type Tool struct {
	Tool   string       `json:"tool"`
	Agents int          `json:"agents"` // number of agents that missed it
	Roles  []string     `json:"roles"`
	Tasks  []string     `json:"tasks"`
	Reason string       `json:"reason"` // reason in the last case
	Then   event.OnTool `json:"then"`   // consequence for the agent in the last case
}

const mostTools = 64

// addTool adds the tool that an agent missed. A Fold keeps at most mostTools tools.
func (d *Fold) addTool(e event.ToolUnavailable) {
	i := slices.IndexFunc(d.Tools, func(t Tool) bool { return t.Tool == e.Tool })
	if i < 0 {
		if len(d.Tools) == mostTools {
			return
		}
		i, d.Tools = len(d.Tools), append(d.Tools, Tool{Tool: e.Tool})
	}
	t := &d.Tools[i]
	t.Agents++
	t.Reason, t.Then = e.Reason, e.Then
	if !slices.Contains(t.Roles, e.Role) {
		t.Roles = append(t.Roles, e.Role)
	}
	if !slices.Contains(t.Tasks, e.Task) && len(t.Tasks) < mostTools {
		t.Tasks = append(t.Tasks, e.Task)
	}
}
