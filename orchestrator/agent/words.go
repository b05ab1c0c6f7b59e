package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Words are phrases in lower case. A failure whose text contains one of them belongs to the class
// of that phrase. Each adapter has the phrases of its own program in a file words.go.
// [ProviderWords] has the phrases of the providers, which any program might pass on.
type Words struct {
	Money    []string // the account has no money left
	Limit    []string // a usage or rate limit of the account
	Model    []string // such a limit, for one model only
	TooLong  []string // the session no longer fits the model's context
	Declined []string // the provider's safeguards refuse
	Busy     []string // the provider is overloaded or cannot be reached
}

// ProviderWords are the phrases of providers and of the network.
var ProviderWords = Words{
	Money: []string{
		// OpenAI, with status 429
		"insufficient_quota", "exceeded your current quota", "check your plan and billing",
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
	Declined: []string{
		"content filtering policy",                               // Anthropic, with status 400
		"content_policy_violation", "violating our usage policy", // OpenAI
		"content_filter", "content management policy", "responsible ai", // Azure
		"prohibited_content", // Google
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

// unconnected are the phrases of a program that does not reach a server at all. The last ones are
// those of curl, of claude and of codex.
var unconnected = []string{
	"econnrefused", "etimedout", "eai_again", "enotfound", "enetunreach", "ehostunreach", "connection refused", "connection error",
	"connection timed out", "no connection", "network is unreachable", "network error", "fetch failed", "no route to host",
	"name or service not known", "temporary failure in name resolution", "no such host", "failed to resolve", "proxy authentication required",
	"could not resolve", "failed to connect", "couldn't connect", "unable to connect", "can't reach", "no internet route", "error sending request",
	"waiting for network",
}

// IsUnconnected reports whether a text means that a program did not reach a server.
func IsUnconnected(text string) bool { return contains(text, unconnected) }

// local are phrases in texts about a program's own servers and tools. Such a text does not mean a
// busy provider, even if it contains one of ProviderWords.Busy.
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

// IsOutOfMoney reports whether a text means that the account has no money left, which no wait
// mends. It returns false if the text names the time at which a limit ends. The program's own
// phrases for a limit outweigh the providers' phrases for money.
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

// IsLimit reports whether a text means that a usage or rate limit is reached. It returns false if
// the text has one of the program's own phrases for a busy provider, or means that money is
// missing.
func (w *Words) IsLimit(text string) bool {
	return contains(text, w.Limit, ProviderWords.Limit) && !contains(text, w.Busy) && !w.IsOutOfMoney(text)
}

// IsOfOneModel reports whether the text of a limit means that other models are still served.
func (w *Words) IsOfOneModel(text string) bool { return contains(text, w.Model) }

// IsTooLong reports whether a text means that a session no longer fits the model's context.
func (w *Words) IsTooLong(text string) bool {
	return contains(text, w.TooLong, ProviderWords.TooLong)
}

// IsDeclined reports whether a text means that the provider's safeguards refuse the input or the
// answer. Another try would be refused, too.
func (w *Words) IsDeclined(text string) bool {
	return contains(text, w.Declined, ProviderWords.Declined)
}

// Later returns an error if a failure means that the provider does not serve calls for now. It
// returns nil for any other failure. The parameters are the name of the program, the HTTP status of
// the failure (below 400 if it says nothing about the failure), the text of the failure and the present time.
func (w *Words) Later(tool string, status int, text string, now time.Time) *LaterError {
	switch {
	case w.IsLimit(text):
		return &LaterError{Text: limitText(tool, text), Reset: ParseReset(text, now), Model: w.IsOfOneModel(text)}
	case isBusy(status), status < 400 && contains(text, w.Busy, ProviderWords.Busy) && !contains(text, local):
		return &LaterError{Text: tool + ": " + text, Busy: true}
	default:
		return nil
	}
}

// LongWait returns the error of a line in which a tool announces that it waits a minute or more for
// a limit, and nil for any other line. The run rather than the tool should wait, because the run
// shows and bounds the wait, and another agent may take over.
func (w *Words) LongWait(tool, line string, now time.Time) *LaterError {
	reset := ParseReset(line, now)
	if !w.IsLimit(line) || reset.Before(now.Add(time.Minute)) {
		return nil
	}
	return &LaterError{Text: limitText(tool, line), Reset: reset}
}

// limitText returns the text about a limit. It says that it is a limit, unless the provider's words
// do.
func limitText(tool, words string) string {
	if !contains(words, []string{"limit", "quota"}) {
		tool += ": a limit is reached"
	}
	return tool + ": " + words
}

// isBusy reports whether an HTTP status means that the same request may succeed later.
func isBusy(status int) bool {
	return status == 408 || status == 409 || status == 429 || status >= 500 && status <= 599
}

// statusWord matches an HTTP status at the beginning of a text, or after one of the words with
// which programs introduce it.
var statusWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|\bstatus(?: code)?:? |\berror:? |\bhttp |\bcode:? )([45]\d\d)\b`)
})

// StatusIn returns the HTTP status that a text names, or 0.
func StatusIn(text string) int {
	m := statusWord().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1]) // never fails for three digits
	return status
}
