package acp

import (
	"slices"

	"github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent"
)

func known(p agent.Permission) bool {
	return slices.Contains([]agent.Permission{"", agent.ReadOnly, agent.Edit, agent.Full}, p)
}

// allows says whether a tool of that kind has leave.
func allows(p agent.Permission, kind acp.ToolKind) bool {
	switch kind {
	case acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindThink:
		return true
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return p != agent.ReadOnly
	default:
		return p == agent.Full || p == ""
	}
}

// answer chooses from what the agent offers, for this once if it can be. Where nothing fits it is as if nobody had answered, which is
// no leave either.
func answer(offers []acp.PermissionOption, allow bool) (acp.RequestPermissionResponse, bool) {
	wanted := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	if allow {
		wanted = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	}
	for _, kind := range wanted {
		for _, o := range offers {
			if o.Kind == kind {
				return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, allow
			}
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, false
}
