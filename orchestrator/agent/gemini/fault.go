package gemini

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
)

// providerText returns the provider's words in a text like "[API Error: BODY]"; any other text
// stays unchanged.
func providerText(text string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "[API Error: "), "]")
	var body struct {
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if strings.HasPrefix(inner, "{") && agent.Decode([]byte(inner), &body) == nil && body.Error.Message != "" {
		return fmt.Sprintf("%d %s", body.Error.Code, body.Error.Message)
	}
	return inner
}

const (
	loginFix = "set GEMINI_API_KEY, or start gemini once at a terminal to log in"
	modelFix = "give another model with `model` in the role"
	setupFix = "start gemini once at a terminal: it says there what is wrong with its settings"
)

// gemini's exit statuses. After a fault of the API, gemini exits with the HTTP status modulo 256.
const (
	exitNoLogin  = 41
	exitSettings = 52
	exit401      = 401 % 256
	exit403      = 403 % 256
	exit429      = 429 % 256
)

// classify returns the error of a failure that no retry can mend, or nil for any other failure.
// Errors: *agent.ConfigError, *agent.LaterError.
func classify(text string, code int, now time.Time) error {
	say := func(fallback string) string {
		if text == "" {
			text = fallback
		}
		return "gemini: " + text
	}
	switch {
	case code == exit429 || strings.HasPrefix(text, "429 ") || strings.Contains(text, "exhausted your"):
		return &agent.LaterError{Text: say("429"), Reset: parseReset(text, now)}
	case code == exit401 || code == exit403,
		strings.HasPrefix(text, "401 ") || strings.HasPrefix(text, "403 ") ||
			strings.Contains(text, "API key not valid"):
		return &agent.ConfigError{Text: say("the key is refused"), Fix: loginFix}
	case code == exitNoLogin:
		return &agent.ConfigError{Text: say("it is not logged in, or its settings do not say how"), Fix: loginFix}
	case code == exitSettings:
		return &agent.ConfigError{Text: say("its settings are wrong"), Fix: setupFix}
	case strings.HasPrefix(text, "404 ") || strings.Contains(text, "is not found for API version"):
		return &agent.ConfigError{Text: say("404"), Fix: modelFix}
	default:
		return nil
	}
}

// resetDelay matches the time until a quota is renewed, such as: reset after 3h20m10s.
var resetDelay = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`reset after ((?:\d+[hms])+)`) })

func parseReset(text string, now time.Time) time.Time {
	m := resetDelay().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	d, err := time.ParseDuration(m[1])
	if err != nil {
		return time.Time{}
	}
	return now.Add(d)
}
