package opencode

import "kanban-run/orchestrator/agent"

// words are the phrases of opencode 1.18.33. The phrases of its providers are in
// agent.ProviderWords.
var words = agent.Words{
	Money:   []string{"quota exceeded. check your plan", "to use codex with your chatgpt plan"},
	Limit:   []string{"usage limit", "free usage exceeded", "gousagelimiterror", "freeusagelimiterror"},
	TooLong: []string{"contextoverflowerror", "input exceeds context window", "too large to compact"},
	Busy:    []string{"cannot connect to api", "connection reset by server", "sse read timed out", "response headers timed out"},
}
