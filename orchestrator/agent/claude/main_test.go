package claude_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent/internal/agenttest"
)

// TestMain also plays claude around a stub, and one that is deaf.
func TestMain(m *testing.M) {
	os.Exit(agenttest.Main(m, map[string]func([]string) int{"fake-claude": func(args []string) int { return fakeClaude(args[0]) }, "deaf-claude": deafClaude}))
}

func deafClaude([]string) int {
	_, _ = (&envelope{to: os.Stdout}).Write([]byte(`{"status":"ok","message":"not listening"}`))
	fmt.Println(end)
	return 0
}

// fakeClaude prints claude's lines around the output of a stub with those rules, which becomes the
// text of a result.
func fakeClaude(rules string) int {
	var line struct {
		Message struct{ Content []struct{ Text string } }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&line); err != nil || len(line.Message.Content) != 1 {
		return 2
	}
	_, input, _ := strings.Cut(line.Message.Content[0].Text, "Your input:\n\n")
	input, _, _ = strings.Cut(input, "\n\nWhen your work is done")
	e := &envelope{to: os.Stdout}
	code := agenttest.Play([]string{"--role", "Implementor", "--file", rules}, strings.NewReader(input), e, os.Stderr)
	if e.open || code == 0 {
		e.begin()
		fmt.Println(end)
	}
	return code
}

// The lines around a stub's reply, as claude 2.1.328 writes them, reduced to the fields that are
// read.
const (
	begin = `{"type":"system","subtype":"init","session_id":"f1","tools":["Bash"],"mcp_servers":[],"permissionMode":"bypassPermissions"}` + "\n" +
		`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Let me see."}],"usage":{"input_tokens":10,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"f1"}` + "\n" +
		`{"is_error":false,"subtype":"success","session_id":"f1","permission_denials":[],"total_cost_usd":0.5,"type":"result","result":"`
	end = `"}`
)

// envelope writes its input into the string of a result line.
type envelope struct {
	to   io.Writer
	open bool
}

func (e *envelope) begin() {
	if !e.open {
		e.open = true
		_, _ = io.WriteString(e.to, begin)
	}
}

func (e *envelope) Write(p []byte) (int, error) {
	e.begin()
	for part := range bytes.SplitAfterSeq(p, []byte("\xff")) { // json.Marshal would repair invalid UTF-8
		part, broken := bytes.CutSuffix(part, []byte("\xff"))
		text, err := json.Marshal(string(part))
		if err != nil {
			return 0, err
		}
		if text = text[1 : len(text)-1]; broken {
			text = append(text, 0xff)
		}
		if _, err := e.to.Write(text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close closes the tool's output, as a stub that closes its own.
func (e *envelope) Close() error { return os.Stdout.Close() }
