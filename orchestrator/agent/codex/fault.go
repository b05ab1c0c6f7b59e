package codex

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
)

// classify returns an error if an immediate retry would fail, too, and nil otherwise. It judges by
// the text, because codex reports no code. Errors: *agent.ConfigError, *agent.LaterError.
func classify(text string, now time.Time) error {
	later := words.Later("codex", agent.StatusIn(text), text, now)
	if fix := remedyFor(text); fix != "" && (later == nil || later.Busy) {
		return &agent.ConfigError{Text: "codex: " + text, Fix: fix}
	}
	if later == nil {
		return nil
	}
	return later
}

// providerText returns the message in the JSON body of a provider's refusal, because codex reports
// the whole body. It returns any other text unchanged.
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
		"Not logged in", "not logged in", "codex login", "access token could not be refreshed", "sign in again"):
		return loginFix
	case containsAny(text, "status 402", "402 Payment Required"), words.IsOutOfMoney(text):
		return moneyFix
	case containsAny(text, "status 404", "model is not supported"), unknownModel().MatchString(text):
		return modelFix
	default:
		return ""
	}
}

// unknownModel matches the words with which OpenAI and compatible providers refuse an unknown
// model. It is needed because codex does not report their status 404.
var unknownModel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bmodel\b.* does not exist`) })

func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
