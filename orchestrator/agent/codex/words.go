package codex

import "kanban-run/orchestrator/agent"

// words are those of codex 0.169.0, beside its providers'.
var words = agent.Words{}
