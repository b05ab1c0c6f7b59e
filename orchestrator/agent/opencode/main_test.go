package opencode_test

import (
	"fmt"
	"os"
	"testing"

	"kanban-run/orchestrator/agent/internal/streamtest"
)

// TestMain also plays an opencode that prints a stub agent's reply in opencode's form.
func TestMain(m *testing.M) { os.Exit(streamtest.Main(m, "fake-opencode", "run", wrap)) }

// wrap returns the events of a run whose last message is the reply.
func wrap(reply []byte) []byte { return []byte(begin + text(string(reply)) + end("stop")) }

const begin = `{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}` + "\n"

func text(text string) string {
	return fmt.Sprintf(`{"type":"text","sessionID":"ses_1","part":{"type":"text","text":%s}}`+"\n", streamtest.Quote([]byte(text)))
}

func end(reason string) string {
	return fmt.Sprintf(`{"type":"step_finish","sessionID":"ses_1","part":{"reason":%q,"type":"step-finish",`+
		`"tokens":{"total":130,"input":90,"output":5,"reasoning":2,"cache":{"write":3,"read":30}},"cost":0.25}}`+"\n", reason)
}

func used(problem string) string {
	return fmt.Sprintf(`{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"write","callID":"c1",`+
		`"state":{"status":"completed","input":{"filePath":"a.txt"},"error":%q}}}`+"\n", problem)
}

func failed(name, data string) string {
	return fmt.Sprintf(`{"type":"error","sessionID":"ses_1","error":{"name":%q,"data":%s}}`+"\n", name, data)
}
