package opencode

import (
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
)

// fault is the content of an error event.
type fault struct {
	Name string `json:"name"`
	Data struct {
		Status  int    `json:"statusCode"`
		Message string `json:"message"`
	} `json:"data"`
}

func (f fault) String() string {
	text := f.Data.Message
	if text == "" {
		text = "it failed"
	}
	if f.Data.Status != 0 {
		text = fmt.Sprintf("%d %s", f.Data.Status, text)
	}
	if f.Name != "" {
		text = f.Name + ": " + text
	}
	return text
}

// classify returns an error if an immediate retry would fail, too, and nil otherwise. opencode
// itself has already retried the faults for which classify returns nil. Errors: *agent.ConfigError,
// *agent.LaterError.
func (f fault) classify(now time.Time) error {
	text := "opencode: " + f.String()
	later := words.Later("opencode", f.Data.Status, f.String(), now)
	switch {
	case f.Data.Status == 401 || f.Data.Status == 403 && (later == nil || later.Busy) || f.Name == "ProviderAuthError":
		return &agent.ConfigError{Text: text, Fix: "run `opencode auth login`, or set the key of the provider; " +
			"one that has a name of its own goes into env.pass"}
	case f.Data.Status == 404 || f.Name == "ProviderModelNotFoundError":
		return &agent.ConfigError{Text: text,
			Fix: "give another model with `model` in the role, as PROVIDER/MODEL; `opencode models` lists them"}
	case f.Data.Status == 402 || words.IsOutOfMoney(text):
		return &agent.ConfigError{Text: text, Fix: "look at the account's billing page at the provider"}
	case later != nil:
		return later
	default:
		return nil
	}
}
