package claude

import "kanban-run/orchestrator/agent"

// words are the phrases of claude 2.1.332. agent.ProviderWords has those of its providers.
var words = agent.Words{
	Money: []string{
		"spend limit", "group budget", "requires usage credits", "usage credits required", "seat type doesn't include",
		"out of usage", "out of extra usage", "usage allocation has been disabled", "credit balance is too low", "api error: 402",
	},
	Limit: []string{
		"you've hit your", "you've reached your", "session limit", "weekly limit", "5-hour limit", "usage limit reached", "usage is paused for your organization",
		"reached your specified", "out of extra usage",
	},
	Model: []string{
		"switch to another model", "/model to switch", "switch models with /model", "opus limit", "sonnet limit", "fable limit",
	},
	TooLong: []string{"prompt is too long", "request too large", "autocompact is thrashing", "reached its context window limit"},
	Declined: []string{
		"safeguards flagged this message", "can't help with this. start a new session", "appears to violate our usage policy",
	},
	Busy: []string{
		"not your usage limit", "overloaded", "usually temporary", "experiencing high load", "request rejected (429)",
		"connection dropped", "can't reach the api server", "no internet route", "unable to connect to api",
		"connection to the api was lost", "no response from api", "mid-response", "before a response was produced",
		"empty or malformed response", "response stopped arriving", "response stalled", "response never arrived",
		"response stream was malformed", "stream idle timeout",
	},
}
