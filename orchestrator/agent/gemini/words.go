package gemini

import "kanban-run/orchestrator/agent"

// words are the phrases of gemini 0.61.0. The phrases of its providers are in agent.ProviderWords.
// Google uses the word "quota" both for a limit per minute and for the limit of a plan.
var words = agent.Words{
	Money: []string{"insufficient_g1_credits_balance"},
	Limit: []string{
		"exhausted your daily quota", "exhausted your capacity", "exceeded your current quota", "suggested retry after",
		"please wait and try again later", "usage limit reached for",
	},
	TooLong: []string{"input token count", "context window will overflow"},
	Busy:    []string{"model is overloaded", "fetch failed", "experiencing high demand", "empty response with no text"},
}
