package codex

import "kanban-run/orchestrator/agent"

// words are the phrases of codex 0.169.0. The phrases of its providers are in agent.ProviderWords.
var words = agent.Words{
	Money:   []string{"workspace is out of credits", "hit your spend cap", "quota exceeded. check your plan", "to use codex with your chatgpt plan"},
	Limit:   []string{"hit your usage limit", "usage_limit_reached", "rate limit exceeded", "hit its usage limit", "quota exceeded"},
	TooLong: []string{"ran out of room in the model"},
	Declined: []string{
		"limited access to this content for safety reasons", "has been flagged for possible", "content policy violation",
		"reason: content_filter",
	},
	Busy: []string{
		noNetwork, "selected model is at capacity", "experiencing high demand", "capacity is unavailable", "flex capacity unavailable",
		"connection failed:", "error while reading the server response", "last status: 5", "last status: 429",
	},
}

// noNetwork is the text that codex prints while it cannot connect to its provider. codex keeps
// trying for many minutes.
const noNetwork = "waiting for network"
