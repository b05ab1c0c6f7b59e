package gemini

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
)

// providerText returns the provider's words in a text like "[API Error: BODY]". It returns any
// other text unchanged.
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

// classify returns an error if an immediate retry would fail, too, and nil otherwise. Errors:
// *agent.ConfigError, *agent.LaterError.
func classify(text string, code int, now time.Time) error {
	status := agent.StatusIn(text)
	if status == 0 && (code == exit429 || code == exit401 || code == exit403) {
		status = code + 256
	}
	say := func(fallback string) string { return "gemini: " + cmp.Or(text, fallback) }
	switch {
	case status == 401 || status == 403 || strings.Contains(text, "API key not valid"):
		return &agent.ConfigError{Text: say("the key is refused"), Fix: loginFix}
	case code == exitNoLogin:
		return &agent.ConfigError{Text: say("it is not logged in, or its settings do not say how"), Fix: loginFix}
	case code == exitSettings:
		return &agent.ConfigError{Text: say("its settings are wrong"), Fix: setupFix}
	case status == 404 || strings.Contains(text, "is not found for API version"):
		return &agent.ConfigError{Text: say("404"), Fix: modelFix}
	}
	if later := words.Later("gemini", status, cmp.Or(text, strconv.Itoa(status)), now); later != nil {
		return later
	}
	return nil
}
