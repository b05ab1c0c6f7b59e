package claude

import "kanban-run/orchestrator/agent"

// words are those of claude 2.1.328, beside its providers'.
var words = agent.Words{}
