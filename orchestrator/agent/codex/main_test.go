package codex_test

import (
	"fmt"
	"os"
	"testing"

	"kanban-run/orchestrator/agent/internal/streamtest"
)

// TestMain also plays a codex that prints a stub agent's reply in codex's form.
func TestMain(m *testing.M) { os.Exit(streamtest.Main(m, "fake-codex", "exec", wrap)) }

// wrap returns the events of a run whose last message is the reply.
func wrap(reply []byte) []byte {
	return fmt.Appendf(nil, `{"type":"thread.started","thread_id":"t-1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":%s}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}
`, streamtest.Quote(reply))
}
