package gemini_test

import (
	"fmt"
	"os"
	"testing"

	"kanban-run/orchestrator/agent/internal/streamtest"
)

// TestMain also plays a gemini that prints a stub agent's reply in gemini's form.
func TestMain(m *testing.M) { os.Exit(streamtest.Main(m, "fake-gemini", "-o", wrap)) }

// wrap returns the events of a run whose last message is the reply.
func wrap(reply []byte) []byte {
	return fmt.Appendf(nil, `{"type":"init","session_id":"s-1","model":"m"}
{"type":"message","role":"user","content":"the prompt"}
%s%s`, message(string(reply)), success)
}

const success = `{"type":"result","status":"success","stats":{"input_tokens":10,"output_tokens":5,"cached":4}}` + "\n"

func message(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"assistant","content":%s,"delta":true}`+"\n", streamtest.Quote([]byte(text)))
}

func failed(text string) string {
	return fmt.Sprintf(`{"type":"result","status":"error","error":{"type":"unknown","message":%s}}`+"\n", streamtest.Quote([]byte(text)))
}
