package acp

import (
	"slices"

	"github.com/coder/acp-go-sdk"

	"kanban-run/orchestrator/agent"
)

func isKnown(p agent.Permission) bool {
	return slices.Contains([]agent.Permission{"", agent.ReadOnly, agent.Edit, agent.Full}, p)
}

// isAllowed reports whether the permission allows a kind of tool. Without a permission every kind
// is allowed.
func isAllowed(p agent.Permission, kind acp.ToolKind) bool {
	switch kind {
	case acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindThink:
		return true
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return p != agent.ReadOnly
	default:
		return p == agent.Full || p == ""
	}
}

// chooseOption returns the answer to a request, and whether the answer allows the tool. It prefers
// an option that holds for one call to an option that holds for all calls. If no option fits, the
// answer is "cancelled", which allows nothing.
func chooseOption(offers []acp.PermissionOption, allow bool) (acp.RequestPermissionResponse, bool) {
	wanted := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	if allow {
		wanted = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	}
	for _, kind := range wanted {
		for _, o := range offers {
			if o.Kind == kind {
				chosen := acp.NewRequestPermissionOutcomeSelected(o.OptionId)
				return acp.RequestPermissionResponse{Outcome: chosen}, allow
			}
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, false
}
