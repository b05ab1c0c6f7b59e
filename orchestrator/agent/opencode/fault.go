package opencode

import (
	"fmt"

	"kanban-run/orchestrator/agent"
)

// fault is an error event's.
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

// hopeless is the error that the fault stands for where no retry can mend it, else nil. opencode itself has tried again what the provider
// says may pass. Errors: *agent.ConfigError, *agent.LaterError.
func (f fault) hopeless() error {
	text := "opencode: " + f.String()
	switch {
	case f.Data.Status == 401 || f.Data.Status == 403 || f.Name == "ProviderAuthError":
		return &agent.ConfigError{Text: text, Fix: "run `opencode auth login`, or set the key of the provider; one that has a name of its own goes into env.pass"}
	case f.Data.Status == 404 || f.Name == "ProviderModelNotFoundError":
		return &agent.ConfigError{Text: text, Fix: "give another model with `model` in the role, as PROVIDER/MODEL; `opencode models` lists them"}
	case f.Data.Status == 402 || f.Data.Status == 429:
		return &agent.LaterError{Text: text}
	default:
		return nil
	}
}
