package codex

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
)

// classify returns the error of a failure that no retry can mend, or nil for any other failure. It
// judges by the text, because codex reports no code or status. Errors: *agent.ConfigError,
// *agent.LaterError.
func classify(text string, now time.Time) error {
	if isLimit(text) && !agent.IsOutOfMoney(text) {
		return &agent.LaterError{Text: "codex: " + text, Reset: parseReset(text, now)}
	}
	if fix := remedyFor(text); fix != "" {
		return &agent.ConfigError{Text: "codex: " + text, Fix: fix}
	}
	return nil
}

// providerText returns the message in the JSON body of a provider's refusal, which codex reports
// whole; any other text stays unchanged.
func providerText(text string) string {
	var body struct {
		Detail string `json:"detail"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if agent.Decode([]byte(text), &body) != nil {
		return text
	}
	for _, inner := range []string{body.Error.Message, body.Detail} {
		if inner != "" {
			return inner
		}
	}
	return text
}

// retryCause returns the cause in "Reconnecting... 1/5 (CAUSE)".
func retryCause(text string) (cause string, ok bool) {
	_, cause, ok = strings.Cut(text, " (")
	return strings.TrimSuffix(cause, ")"), ok
}

// isLimit reports whether the text tells of a spent allowance or too many requests. By then codex
// has already retried, or would wait for hours.
func isLimit(text string) bool {
	return containsAny(text, "hit your usage limit", "usage_limit_reached", "Quota exceeded", "429 Too Many Requests")
}

const (
	loginFix = "run `codex login`, or set the key of the provider that codex is set to (OPENAI_API_KEY or " +
		"CODEX_API_KEY)"
	keyFix = "set it; where a provider has a variable of its own (env_key in codex's config.toml), " +
		"name it in env.pass too: agents get no other secrets"
	moneyFix = "look at the account's billing page at the provider"
	modelFix = "give another model with `model` in the role, or in codex's config.toml, and look at the " +
		"address of its provider"
)

// remedyFor returns the remedy for a wrong setting, or "" if the failure may be the provider's
// fault.
func remedyFor(text string) string {
	switch {
	case strings.Contains(text, "Missing environment variable"):
		return keyFix
	case containsAny(text, "status 401", "status 403", "401 Unauthorized", "403 Forbidden",
		"Not logged in", "not logged in", "codex login"):
		return loginFix
	case containsAny(text, "status 402", "402 Payment Required"), agent.IsOutOfMoney(text):
		return moneyFix
	case containsAny(text, "status 404", "model is not supported"), unknownModel().MatchString(text):
		return modelFix
	default:
		return ""
	}
}

// unknownModel matches the words with which OpenAI and compatible providers refuse an unknown
// model, because codex does not report their status 404.
var unknownModel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bmodel\b.* does not exist`) })

func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// resetTime matches the end of a limit in local time: 7:55 PM today, or Nov 24th, 2026 7:55 PM.
var resetTime = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`try again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th)?, (\d{4}),? )?` +
		`(\d{1,2}:\d{2}) ?([AP]M)`)
})

// parseReset returns the time that the text names, or the zero time if the text names none. If the
// text gives no date, the limit ends at the next moment when the clock shows that time.
func parseReset(text string, now time.Time) time.Time {
	m := resetTime().FindStringSubmatch(strings.ReplaceAll(text, "\u202f", " "))
	if m == nil {
		return time.Time{}
	}
	clock, err := time.Parse("3:04 PM", m[4]+" "+m[5])
	if err != nil {
		return time.Time{}
	}
	now = now.Local()
	year, month, day := now.Date()
	if m[1] != "" {
		date, err := time.Parse("Jan 2 2006", m[1]+" "+m[2]+" "+m[3])
		if err != nil {
			return time.Time{}
		}
		year, month, day = date.Date()
	}
	at := time.Date(year, month, day, clock.Hour(), clock.Minute(), 0, 0, time.Local)
	if m[1] == "" && at.Before(now.Truncate(time.Minute)) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}
