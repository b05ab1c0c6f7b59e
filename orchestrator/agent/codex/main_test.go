package codex_test

import (
	"fmt"
	"os"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/streamtest"
)

// TestMain plays a codex too, which says in codex's form what a stub agent says.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case agent.StubCommand:
			os.Exit(agent.StubMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "fake-codex":
			os.Exit(streamtest.Play(os.Args[2:], "exec", wrap))
		}
	}
	os.Exit(m.Run())
}

// wrap is what codex says of a run whose last message is the reply.
func wrap(reply []byte) []byte {
	return fmt.Appendf(nil, `{"type":"thread.started","thread_id":"t-1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":%s}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}
`, streamtest.Quote(reply))
}
