package codex

import (
	"time"

	"kanban-run/orchestrator/agent"
)

// Reset and TOMLString are tested with all that they can be given.
var (
	Reset      = reset
	TOMLString = tomlString
)

// Impatient is the adapter with another patience.
func Impatient(d time.Duration) agent.Adapter { return adapter{patience: d} }
