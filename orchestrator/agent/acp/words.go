package acp

import (
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
)

// words has few phrases, because the agent may be any program with any provider. They are those of
// copilot 1.0.102, and those that the bridge of claude passes on.
var words = agent.Words{
	Limit: []string{"you've hit your", "you've reached your"},
	Model: []string{"switch to another model", "/model to switch"},
	Busy:  []string{"transient api error", "response stopped arriving", "response stalled", "stream idle timeout"},
}

// faults are the beginnings of the lines in which an agent tells a fault of its provider as if it
// were its answer, in lower case. Source: copilot 1.0.102.
var faults = []string{
	"info: request failed due to a transient api error",
	"error: authentication failed with provider",
}

// isFault reports whether each line of an agent's message tells a fault of its provider.
func isFault(message string) bool {
	lines := 0
	for line := range strings.Lines(strings.ToLower(message)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		begins := func(fault string) bool { return strings.HasPrefix(line, fault) }
		if lines++; !slices.ContainsFunc(faults, begins) {
			return false
		}
	}
	return lines > 0
}
