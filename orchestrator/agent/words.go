package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Words are the parts of texts by which the class of a failure is known, in lower case. Each adapter has the
// words of its own program in a file words.go; those of the providers, which any program may pass on, are
// in [ProviderWords].
type Words struct {
	Money   []string // the account has no money left
	Limit   []string // a usage or rate limit of the account
	TooLong []string // the session does not fit the model's context any more
	Busy    []string // the provider is overloaded or cannot be reached
}

// ProviderWords are the words of providers and of the network.
var ProviderWords = Words{
	Money: []string{
		"insufficient_quota", "exceeded your current quota", "check your plan and billing", // OpenAI, with status 429
		"credit balance is too low",                    // Anthropic, with status 400
		"insufficient balance", "insufficient credits", // OpenRouter, DeepSeek
	},
	Limit: []string{
		"usage limit", "session limit", "weekly limit", "rate limit", "rate_limit", "ratelimit", "limit reached", "hit your limit",
		"resource_exhausted", "quota exceeded", "exceeded your quota", "exhausted your", "quota will reset", "too many requests for",
		"tokens per minute", "requests per minute", "requests per day", "tokens per day", "throttlingexception",
	},
	TooLong: []string{
		"prompt is too long", "prompt_too_long", "context_length_exceeded", "maximum context length", "exceeds the context window",
		"context window", "input token count", "input is too long", "too many tokens in", "context limit",
	},
	Busy: []string{
		"overloaded", "high demand", "at capacity", "no capacity", "capacity exceeded", "service unavailable", "temporarily unavailable",
		"bad gateway", "gateway timeout", "internal server error", "server_error", "try again later", "too many requests",
		"econnrefused", "econnreset", "etimedout", "epipe", "eai_again", "enetunreach", "ehostunreach",
		"connection refused", "connection reset", "connection error", "connection closed", "connection lost", "connection timed out",
		"request timed out", "request timeout", "network error", "network is unreachable", "fetch failed", "socket hang up",
		"stream disconnected", "stream closed before", "error sending request",
	},
}

// local are the parts of texts about a program's own servers and tools, which may have words of [ProviderWords], too.
var local = []string{"mcp", "tool permission"}

func contains(text string, lists ...[]string) bool {
	text = strings.ToLower(text)
	for _, words := range lists {
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	return false
}

// IsOutOfMoney reports whether a text means that the account has no money left, which waiting does not mend.
// A text that names the end of a limit is none of those, nor one with the program's own words of a limit.
func (w *Words) IsOutOfMoney(text string) bool {
	switch {
	case !ParseReset(text, time.Now()).IsZero():
		return false
	case contains(text, w.Money):
		return true
	default:
		return !contains(text, w.Limit) && contains(text, ProviderWords.Money)
	}
}

// IsLimit reports whether a text tells of a usage or rate limit. The program's own words for a provider that
// is busy may deny it.
func (w *Words) IsLimit(text string) bool {
	return contains(text, w.Limit, ProviderWords.Limit) && !contains(text, w.Busy) && !w.IsOutOfMoney(text)
}

// IsTooLong reports whether a text says that a session does not fit the model's context any more.
func (w *Words) IsTooLong(text string) bool {
	return contains(text, w.TooLong, ProviderWords.TooLong)
}

// Later returns the error of a failure with an HTTP status, 0 if none is known, and a text, if a wait may mend it;
// otherwise nil. tool is the name of the program.
func (w *Words) Later(tool string, status int, text string, now time.Time) *LaterError {
	switch {
	case w.IsLimit(text):
		return &LaterError{Text: tool + ": " + text, Reset: ParseReset(text, now)}
	case isBusy(status), status == 0 && contains(text, w.Busy, ProviderWords.Busy) && !contains(text, local):
		return &LaterError{Text: tool + ": " + text, Busy: true}
	default:
		return nil
	}
}

// LongWait returns the error of a line in which a tool says that it will wait for a limit for more than a
// minute; otherwise nil. The run waits better: it shows the wait, bounds it, and another agent may take over.
func (w *Words) LongWait(tool, line string, now time.Time) *LaterError {
	reset := ParseReset(line, now)
	if !w.IsLimit(line) || reset.Before(now.Add(time.Minute)) {
		return nil
	}
	return &LaterError{Text: tool + ": " + line, Reset: reset}
}

// isBusy reports whether an HTTP status means that the same request may succeed later.
func isBusy(status int) bool {
	return status == 408 || status == 409 || status == 429 || status >= 500 && status <= 599
}

// statusWord matches an HTTP status at the beginning of a text, or behind the words with which programs introduce it.
var statusWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|\bstatus(?: code)?:? |\berror:? |\bhttp |\bcode:? )([45]\d\d)\b`)
})

// StatusIn returns the HTTP status that a text names, or 0.
func StatusIn(text string) int {
	m := statusWord().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1]) // three digits
	return status
}
