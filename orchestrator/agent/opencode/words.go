package opencode

import "kanban-run/orchestrator/agent"

// words are those of opencode 1.18.33, beside its providers'.
var words = agent.Words{}
