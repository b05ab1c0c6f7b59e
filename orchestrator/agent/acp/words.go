package acp

import "kanban-run/orchestrator/agent"

// words is empty, because the agent may be any program with any provider.
var words = agent.Words{}
