package acp

import "kanban-run/orchestrator/agent"

// words has none of its own: what is behind an agent may be any program with any provider.
var words = agent.Words{}
