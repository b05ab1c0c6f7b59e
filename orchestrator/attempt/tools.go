package attempt

import (
	"slices"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
)

// toolCalls are the last calls of tools, in their order. It is safe for concurrent use.
type toolCalls struct {
	mu    sync.Mutex
	calls []toolCall
}

type toolCall struct {
	agent.Event
	ended time.Time // zero: it has not
}

// maxCalls bounds how many calls are remembered: an agent may never end one.
const maxCalls = 16

func (t *toolCalls) note(e agent.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case agent.ToolStarted:
		if len(t.calls) == maxCalls {
			t.calls = slices.Delete(t.calls, 0, 1)
		}
		t.calls = append(t.calls, toolCall{Event: e})
	case agent.ToolEnded:
		for i, c := range t.calls {
			if c.ID == e.ID && c.ended.IsZero() {
				t.calls[i].ended = time.Now()
			}
		}
	}
}

// openAt says what the agent was waiting for so long ago; an agent that is asked to end ends its tools
// first.
func (t *toolCalls) openAt(ago time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := time.Now().Add(-ago)
	var open []string
	for _, c := range t.calls {
		if c.ended.IsZero() || c.ended.After(at) {
			open = append(open, strings.TrimSpace(c.Tool+" "+agent.OneLine(c.Text)))
		}
	}
	return strings.Join(open, ", ")
}
