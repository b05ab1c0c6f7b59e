package streamtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/agenttest"
	"kanban-run/orchestrator/proc"
)

// Main is a test binary's that plays a tool of its own, command, when it is started as one, and a stub agent; see [Play]. It returns the
// exit status.
func Main(m *testing.M, command, first string, wrap func(reply []byte) []byte) int {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case agent.StubCommand:
			return agent.StubMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
		case command:
			return Play(os.Args[2:], first, wrap)
		}
	}
	return m.Run()
}

// Play is what a test binary does when it is started in the place of a tool: it is a stub agent with the arguments before the first
// that is the tool's own, and puts what that says into the tool's form. It returns the exit status.
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

// Stub is what a stub agent says to a prompt, and its exit status.
func Stub(args []string, asked string) (reply []byte, code int) {
	var s said
	code = agent.StubMain(args, strings.NewReader(input(asked)), &s, os.Stderr)
	return bytes.TrimSuffix(s.Bytes(), []byte("\n")), code
}

// input is the one in the text that Assignment.Ask makes.
func input(asked string) string {
	_, text, _ := strings.Cut(asked, "Your input:\n\n")
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// said is the stub's standard output. A stub that closes it closes the tool's.
type said struct{ bytes.Buffer }

func (said) Close() error { return os.Stdout.Close() }

// Quote is a text as a JSON string, but for what is wrong with it: that stays so.
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

// Conformance runs the suite of all adapters with the test binary as the tool. command is the word that makes it so, and reasons what an
// adapter says in its own words.
//
// Two rules are about agents whose whole output is the reply. A tool's reply stands in a message for people, where a fence is taken off
// (see agent.FindReply), and in one line, of which a long one is not kept (see agent.Lines): the adapters' own tests hold both. skip names
// what else cannot be said in the tool's form.
func Conformance(t *testing.T, a agent.Adapter, command string, reasons map[string]string, skip ...string) {
	t.Helper()
	agenttest.Conformance(t, agenttest.Harness{
		Reasons: reasons,
		Agent: func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment) {
			if do == "fence" || do == "huge" || slices.Contains(skip, do) {
				t.Skip("a rule about agents whose whole output is the reply")
			}
			return a, assign(t, command, do, more...)
		},
	})
}

// assign makes the test binary the tool, with a stub of one rule in it.
func assign(t *testing.T, command, do string, more ...string) agent.Assignment {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "stub.yaml")
	text := strings.Join(append([]string{"- do: " + do}, more...), "\n  ") + "\n"
	if err := os.WriteFile(rules, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return agent.Assignment{Role: "Implementor", Scratch: t.TempDir(), Env: Quiet(t),
		Command: []string{self, command, "--role", "Implementor", "--file", rules}}
}

// LostSession checks that a failure is Lost when the tool exits with 1 and says on standard error that it
// does not know the session to go on in, and when it says something else, not.
func LostSession(t *testing.T, a agent.Adapter, command, stderr string) {
	t.Helper()
	for text, want := range map[string]bool{stderr: true, "out of memory": false} {
		call := assign(t, command, "exit", fmt.Sprintf("stderr: %q", text))
		call.Contract, call.Dir, call.Grace = agent.InstructionContract, t.TempDir(), time.Second
		call.Follow = &agent.Follow{Session: "s-1", Text: "Your input:\n\n" + `{"instruction":"x"}`}
		inv, err := a.Invoke(call)
		if err != nil {
			t.Fatal(err)
		}
		h := Hold(t, t.Context(), a, &inv, call.Contract)
		h.WantFailure(t, "exit status 1")
		if h.Failure.Lost != want {
			t.Errorf("stderr %q: Failure = %+v, want lost: %t", text, h.Failure, want)
		}
	}
}

// Quiet keeps the race detector's second of waiting and the coverage tool's warning out of the agents.
func Quiet(t testing.TB) []string {
	t.Helper()
	return []string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}
}

// LongLine checks that a reply which is too long for a line is refused in bounded memory, with its beginning. before, begin and after are the
// stream around it.
func LongLine(t *testing.T, a agent.Adapter, before, begin, after string) {
	t.Helper()
	stream := io.MultiReader(strings.NewReader(before+begin), io.LimitReader(endless{}, 40<<20), strings.NewReader(after))
	r := a.Reader(agent.TaskContract, agent.Host{Emit: func(agent.Event) {}, GiveUp: func(error) {}})
	if _, err := io.CopyBuffer(struct{ io.Writer }{r}, stream, make([]byte, 32<<10)); err != nil {
		t.Fatal(err)
	}
	report := r.End(proc.Exit{})
	if report.Failure == nil || !strings.Contains(report.Failure.Reason, "too long") || !strings.HasPrefix(string(report.Reply), begin[:10]) {
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
