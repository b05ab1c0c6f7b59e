package codex

import (
	"time"

	"kanban-run/orchestrator/agent"
)

// Reset and TOMLString are tested with all that they can be given.
var (
	Reset      = parseReset
	TOMLString = tomlString
)

// Impatient returns the adapter with another patience.
func Impatient(d time.Duration) agent.Adapter { return adapter{patience: d} }
