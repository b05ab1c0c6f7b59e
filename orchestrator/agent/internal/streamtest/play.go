package streamtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/internal/agenttest"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// Main is the TestMain of a test binary that can also play a tool or a stub agent. The binary plays
// the tool if its first argument equals the parameter "command". The other parameters are for
// [Play]. Main returns the exit status.
func Main(m *testing.M, command, first string, wrap func(reply []byte) []byte) int {
	play := func(args []string) int { return Play(args, first, wrap) }
	return agenttest.Main(m, map[string]func([]string) int{command: play})
}

// Play runs a stub agent and prints the stub's reply in the tool's form. The stub gets only the
// arguments before the value of the parameter "first". The other arguments are the tool's own. Play
// returns the exit status.
func Play(args []string, first string, wrap func(reply []byte) []byte) int {
	if at := slices.Index(args, first); at >= 0 {
		args = args[:at]
	}
	asked, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	reply, code := Stub(args, string(asked))
	if len(reply) == 0 {
		return code
	}
	if _, err := os.Stdout.Write(wrap(reply)); err != nil {
		return 1
	}
	return code
}

// Stub returns a stub agent's reply to a prompt, and the stub's exit status.
func Stub(args []string, asked string) (reply []byte, code int) {
	var s stubOutput
	code = agenttest.Play(args, strings.NewReader(inputOf(asked)), &s, os.Stderr)
	return bytes.TrimSuffix(s.Bytes(), []byte("\n")), code
}

// inputOf returns the input that a text of Assignment.Ask contains.
func inputOf(asked string) string {
	_, text, _ := strings.Cut(asked, "Your input:\n\n")
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// stubOutput is the stub's standard output. Its method Close closes the standard output of this
// process.
type stubOutput struct{ bytes.Buffer }

func (stubOutput) Close() error { return os.Stdout.Close() }

// Quote returns a text as a JSON string, with its invalid bytes unchanged.
func Quote(text []byte) []byte {
	b := []byte{'"'}
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Conformance runs the suite of package agenttest with the test binary as the tool. The
// parameter "command" is the argument that selects the tool. The parameter "reasons" has the
// failure texts of this adapter. The parameter "skip" has the rules of the suite that this tool's
// output cannot break.
//
// Two more rules are skipped, because they hold only for agents whose whole output is the reply. A
// tool's reply is part of a message, so a fence around the reply is removed (see
// contract.FindReply). The reply is also in one line, so a long reply is dropped (see agent.Lines).
// The adapters' own tests cover both rules.
func Conformance(t *testing.T, a agent.Adapter, command string, reasons map[string]string, skip ...string) {
	t.Helper()
	agenttest.Conformance(t, agenttest.Harness{
		Reasons: reasons,
		Accepts: []string{"trailing-text"},
		Agent: func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment) {
			if do == "fence" || do == "huge" || slices.Contains(skip, do) {
				t.Skip("a rule about agents whose whole output is the reply")
			}
			return a, stubAssignment(t, command, do, more...)
		},
	})
}

// stubAssignment returns an assignment with the test binary as the tool. The tool plays a stub with
// one rule.
func stubAssignment(t *testing.T, command, do string, more ...string) agent.Assignment {
	t.Helper()
	return agent.Assignment{Role: "Implementor", Scratch: t.TempDir(), Env: agenttest.QuietEnv(t),
		Command: []string{agenttest.Self(t), command, "--role", "Implementor", "--file",
			agenttest.Rules(t, do, more...)}}
}

// CheckLostSession checks that a failure is Lost only if the tool exits with 1 and reports on
// standard error that it does not know the session to resume.
func CheckLostSession(t *testing.T, a agent.Adapter, command, stderr string) {
	t.Helper()
	for text, want := range map[string]bool{stderr: true, "out of memory": false} {
		call := stubAssignment(t, command, "exit", fmt.Sprintf("stderr: %q", text))
		call.Contract, call.Dir, call.Grace = contract.Instruction, t.TempDir(), time.Second
		call.Follow = &agent.Follow{Session: "s-1", Text: "Your input:\n\n" + `{"instruction":"x"}`}
		inv, err := a.Invoke(call)
		if err != nil {
			t.Fatal(err)
		}
		h := Converse(t, t.Context(), a, &inv, call.Contract)
		h.WantFailure(t, "exit status 1")
		if h.Failure.Lost != want {
			t.Errorf("stderr %q: Failure = %+v, want lost: %t", text, h.Failure, want)
		}
	}
}

// CheckLongLine checks that a reply is refused if it makes its line too long. The report has to
// hold the beginning of the reply, but the reader must not keep the rest in memory. The stream
// consists of the parameters "before" and "begin", the long part of the reply, and the parameter
// "after".
func CheckLongLine(t *testing.T, a agent.Adapter, before, begin, after string) {
	t.Helper()
	stream := io.MultiReader(strings.NewReader(before+begin), io.LimitReader(endless{}, 40<<20),
		strings.NewReader(after))
	r := a.Reader(contract.Task, agent.Host{Emit: func(agent.Event) {}, GiveUp: func(error) {}})
	if _, err := io.CopyBuffer(struct{ io.Writer }{r}, stream, make([]byte, 32<<10)); err != nil {
		t.Fatal(err)
	}
	report := r.End(proc.Exit{})
	if report.Failure == nil || !strings.Contains(report.Failure.Reason, "too long") ||
		!strings.HasPrefix(string(report.Reply), begin[:10]) {
		t.Errorf("a line of 40 MiB: %v, %.50q, want it to be too long, and its beginning", report.Failure, report.Reply)
	}
	if len(report.Reply) > 8<<10 {
		t.Errorf("%d bytes are kept of a line that is too long", len(report.Reply))
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
