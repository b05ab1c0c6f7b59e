package codex

import (
	"time"

	"kanban-run/orchestrator/agent"
)

// TOMLString is tested with all that it can be given.
var TOMLString = tomlString

// Impatient returns the adapter with another patience.
func Impatient(d time.Duration) agent.Adapter { return adapter{patience: d} }
