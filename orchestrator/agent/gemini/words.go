package gemini

import "kanban-run/orchestrator/agent"

// words are those of gemini 0.61.0, beside its providers'.
var words = agent.Words{}
