// Package agenttest is the conformance suite of adapters. An adapter has to accept a valid reply,
// refuse every wrong reply with a reason, and leave no process behind.
package agenttest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
)

// Harness makes an adapter's program behave as a test demands.
type Harness struct {
	// Agent returns an adapter and an assignment whose agent behaves like a stub. The stub's rule
	// consists of the given `do` and the lines in the parameter "more". The suite fills in Input,
	// Contract, Timeout and Grace.
	Agent func(t *testing.T, do string, more ...string) (agent.Adapter, agent.Assignment)
	// Deaf, if set, returns an agent that never reads its standard input, and still gives a good
	// reply.
	Deaf func(t *testing.T) (agent.Adapter, agent.Assignment)
	// Reasons maps a `do` to the reason of failure that the suite expects in place of its own. It
	// is for programs whose output is more than the reply.
	Reasons map[string]string
	// Accepts lists the faults (values of `do`) with which this program still gives a good reply.
	// With any other fault the suite expects a failure.
	Accepts []string
	// Stream means that the program's standard output holds more than the reply.
	Stream bool
}

// never is a time limit that a test reaches only if it hangs.
const never = time.Hour

// Conformance runs the suite. The test binary has to play stub agents, as [Main] does.
func Conformance(t *testing.T, h Harness) {
	if err := proc.Adopt(); err != nil {
		t.Fatal(err)
	}
	t.Run("valid replies", h.validReplies)
	t.Run("misbehaviour", h.misbehaviours)
	t.Run("review", h.review)
	t.Run("identical invocations", h.identical)
	t.Run("stop", h.stop)
	t.Run("kill", h.kill)
	t.Run("stopped before the start", h.stoppedBefore)
	t.Run("timeout", h.timeout)
	t.Run("closed stdout", h.closedStdout)
	t.Run("leaked child", h.leakedChild)
	t.Run("huge output", h.huge)
	t.Run("sinks", h.sinks)
	t.Run("command that vanished", h.vanished)
	if h.Deaf != nil {
		t.Run("stdin never read", h.deaf)
	}
}

var contracts = [...]contract.Kind{contract.Task, contract.Manager, contract.Instruction}

// input returns a valid input of the contract.
func input(c contract.Kind) []byte {
	switch c {
	case contract.Task:
		return []byte(`{"task_file":"tasks/a.md","kanban_file":"kanban.yaml"}`)
	case contract.Manager:
		return []byte(`{"kanban_file":"kanban.yaml","done_task":"tasks/a.md","tasks":["tasks/a.md","tasks/b.md"]}`)
	default:
		return []byte(`{"instruction":"count to three"}`)
	}
}

func (h Harness) assign(t *testing.T, c contract.Kind, do string, more ...string) (agent.Adapter, agent.Assignment) {
	t.Helper()
	a, assignment := h.Agent(t, do, more...)
	return a, complete(t, assignment, c)
}

func complete(t *testing.T, a agent.Assignment, c contract.Kind) agent.Assignment {
	t.Helper()
	a.Contract, a.Input = c, input(c)
	a.Timeout, a.Grace = never, never
	if a.Dir == "" {
		a.Dir = workdir(t)
	}
	return a
}

// workdir returns a new folder with the files that the inputs name.
func workdir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tasks"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tasks/a.md", "tasks/b.md", "kanban.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("current: tasks/a.md\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (h Harness) validReplies(t *testing.T) {
	for _, kind := range contracts {
		t.Run(kind.String(), func(t *testing.T) {
			c := &conversation{}
			c.adapter, c.assignment = h.assign(t, kind, "reply", "status: blocked", "message: 'said ✓'")
			out := c.run(t)
			if out.Failure != nil || out.IsStopped() || out.Reply == nil {
				t.Fatalf("Converse = %+v, %v, want a reply", out, out.Failure)
			}
			if out.Reply.Status != contract.Blocked || out.Reply.Message != "said ✓" {
				t.Errorf("Reply = %+v, want what the agent said", out.Reply)
			}
			isManagers := kind == contract.Manager
			if got := out.Reply.NextTask != nil && *out.Reply.NextTask == "tasks/b.md"; got != isManagers {
				t.Errorf("NextTask = %v, want tasks/b.md: %t", out.Reply.NextTask, isManagers)
			}
			if got := slices.Equal(out.Reply.Tasks, []string{"tasks/a.md", "tasks/b.md"}); got != isManagers {
				t.Errorf("Tasks = %v, want both: %t", out.Reply.Tasks, isManagers)
			}
			wantExit(t, out.Exit, "exit status 0")
		})
	}
}

func wantExit(t *testing.T, got proc.Exit, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("Exit = %v, want %s", got, want)
	}
}

func (h Harness) misbehaviours(t *testing.T) {
	for _, tt := range []struct{ do, reason string }{
		{"garbage", "not a JSON object"},
		{"half-json", "half a JSON object"},
		{"empty", "stdout is empty"},
		{"wrong-enum", "status is \"very ok\", want ok, blocked, error or escalate"},
		{"missing-field", "message is missing"},
		{"duplicate-key", "duplicate key status"},
		{"trailing-text", "text after the JSON object"},
		{"two-objects", "a second JSON object"},
		{"fence", "Markdown fence"},
		{"invalid-utf8", "invalid UTF-8"},
		{"ok-exit-1", "exit status 1"},
		{"exit", "exit status 1"},
		{"crash", "killed by signal: killed"},
	} {
		for _, kind := range []contract.Kind{contract.Task, contract.Manager} {
			t.Run(tt.do+", "+kind.String(), func(t *testing.T) {
				c := &conversation{}
				c.adapter, c.assignment = h.assign(t, kind, tt.do, "stderr: in a bad mood")
				out := c.run(t)
				if slices.Contains(h.Accepts, tt.do) {
					if out.Reply == nil {
						t.Errorf("Converse = %+v, %v, want a reply", out, out.Failure)
					}
					return
				}
				h.wantFailure(t, c, out, tt.do, tt.reason)
				if !strings.Contains(out.Stderr, "in a bad mood") {
					t.Errorf("Stderr = %q, want what the agent said there", out.Stderr)
				}
			})
		}
	}
}

// wantFailure checks the reason of a failure. It also checks that the outcome holds the beginning
// of the output.
func (h Harness) wantFailure(t *testing.T, c *conversation, out *attempt.Ended, do, reason string) {
	t.Helper()
	if out.Failure == nil || out.Reply != nil || out.IsStopped() {
		t.Fatalf("Converse = %+v, want a failure", out)
	}
	if own, ok := h.Reasons[do]; ok {
		reason = own
	}
	if !strings.Contains(out.Failure.Reason, reason) {
		t.Errorf("Reason = %q, want %q in it", out.Failure.Reason, reason)
	}
	if got := out.Received == ""; got != (c.stdout.Len() == 0) && !h.Stream {
		t.Errorf("Received = %q of %d bytes", out.Received, c.stdout.Len())
	}
}

// review checks that any text is a valid reply of a reviewer. Source: seed 003, "捕获 Supervisor 反馈".
func (h Harness) review(t *testing.T) {
	c := &conversation{}
	c.adapter, c.assignment = h.assign(t, contract.Review, "garbage")
	out := c.run(t)
	const said = "I have finished the task. All tests pass!"
	if out.Failure != nil || out.Reply == nil || strings.TrimSpace(out.Reply.Message) != said {
		t.Errorf("Converse = %+v, %v, want the text that the agent said", out.Reply, out.Failure)
	}
	c.adapter, c.assignment = h.assign(t, contract.Review, "empty")
	if out = c.run(t); out.Failure == nil {
		t.Errorf("Converse = %+v, want no review of an agent that says nothing", out.Reply)
	}
}

// identical checks that a retry starts the same agent with the same parameters. Source: seed 004,
// "Retry Rule (CRITICAL)".
func (h Harness) identical(t *testing.T) {
	adapter, assignment := h.assign(t, contract.Task, "reply")
	first, err := adapter.Invoke(assignment)
	if err != nil {
		t.Fatal(err)
	}
	again, err := adapter.Invoke(assignment)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first.Argv, again.Argv) || !slices.Equal(first.Env, again.Env) ||
		!bytes.Equal(first.Stdin, again.Stdin) || first.Dir != again.Dir {
		t.Errorf("Invoke = %+v, and then %+v, want the same", first, again)
	}
	if first.Digest() != again.Digest() || len(first.Digest()) != 64 {
		t.Errorf("Digest() = %s, and then %s, want the same SHA-256", first.Digest(), again.Digest())
	}
	if first.Dir != assignment.Dir || !slices.Equal(first.Env, assignment.Env) {
		t.Errorf("Invoke = %+v, want the folder and environment of the assignment", first)
	}
	assignment.Input = input(contract.Instruction)
	other, err := adapter.Invoke(assignment)
	if err != nil {
		t.Fatal(err)
	}
	if other.Digest() == first.Digest() {
		t.Error("Digest() is the same for another input")
	}
}

func (h Harness) stop(t *testing.T) {
	c := &conversation{stopAt: "hanging"}
	c.adapter, c.assignment = h.assign(t, contract.Task, "hang")
	wantStopped(t, c.run(t))
}

func (h Harness) kill(t *testing.T) {
	c := &conversation{stopAt: "ignoring SIGTERM", killToo: true}
	c.adapter, c.assignment = h.assign(t, contract.Task, "ignore-term")
	wantStopped(t, c.run(t))
}

func wantStopped(t *testing.T, out *attempt.Ended) {
	t.Helper()
	if !out.IsStopped() || out.Reply != nil || out.Failure != nil {
		t.Errorf("Converse = %+v, want it to be stopped, neither accepted nor rejected", out)
	}
}

func (h Harness) stoppedBefore(t *testing.T) {
	adapter, assignment := h.assign(t, contract.Task, "reply")
	inv, err := adapter.Invoke(assignment)
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancel(context.Background())
	cancel()
	out, err := attempt.Run(stop, context.Background(), attempt.Spec{
		Adapter:    adapter,
		Invocation: inv,
		Contract:   assignment.Contract,
		Sinks:      attempt.Sinks{Redactor: redact.New(nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantStopped(t, out)
}

func (h Harness) timeout(t *testing.T) {
	for _, do := range []string{"hang", "ignore-term"} {
		c := &conversation{}
		c.adapter, c.assignment = h.assign(t, contract.Task, do)
		c.assignment.Timeout, c.assignment.Grace = 300*time.Millisecond, 20*time.Millisecond
		out := c.run(t)
		if out.Failure == nil || !strings.Contains(out.Failure.Reason, "timed out after 300ms") || out.IsStopped() {
			t.Errorf("Converse(%s) = %+v, %v, want it to time out", do, out, out.Failure)
		}
	}
}

// closedStdout checks that the attempt goes on after the agent has closed its output.
func (h Harness) closedStdout(t *testing.T) {
	c := &conversation{stopAt: "closed stdout"}
	c.adapter, c.assignment = h.assign(t, contract.Task, "close-stdout")
	wantStopped(t, c.run(t))
}

var leftBehind = regexp.MustCompile(`left process (\d+) behind`)

// leakedChild checks that a process which the agent left behind neither delays the good reply nor
// survives.
func (h Harness) leakedChild(t *testing.T) {
	c := &conversation{}
	c.adapter, c.assignment = h.assign(t, contract.Task, "leak-child")
	out := c.run(t)
	if out.Failure != nil || out.Reply == nil {
		t.Fatalf("Converse = %+v, %v, want a reply", out, out.Failure)
	}
	m := leftBehind.FindStringSubmatch(c.stderr.buf.String())
	if m == nil {
		t.Fatalf("stderr = %q, want the number of the process", c.stderr.buf.String())
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); runtime.GOOS == "linux" && err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("process %d outlived the agent", pid)
	}
}

// huge checks that a reply of 64 MiB is refused and not kept in memory. The bound of the heap is
// higher for a stream, because a line of a stream can be longer than a reply.
func (h Harness) huge(t *testing.T) {
	adapter, assignment := h.assign(t, contract.Manager, "huge")
	inv, err := adapter.Invoke(assignment)
	if err != nil {
		t.Fatal(err)
	}
	heap := &heapWatcher{}
	ctx := context.Background()
	out, err := attempt.Run(ctx, ctx, attempt.Spec{
		Adapter:    adapter,
		Invocation: inv,
		Contract:   assignment.Contract,
		Sinks:      attempt.Sinks{Stdout: heap, Redactor: redact.New(nil)},
	})
	held := heap.most >> 20
	want, most := "larger than 16 MiB", uint64(24)
	if h.Stream {
		want, most = h.Reasons["huge"], 40
	}
	if err != nil || out.Failure == nil || !strings.Contains(out.Failure.Reason, want) {
		t.Errorf("Converse = %+v, %v, want it to be too large", out.Failure, err)
	}
	if held == 0 || held > most {
		t.Errorf("the heap held up to %d MiB, want %d at most", held, most)
	}
	if len(out.Received) > 4<<10 || out.Received == "" {
		t.Errorf("Received has %d bytes, want its beginning, 4 KiB at most", len(out.Received))
	}
}

// heapWatcher is a sink that collects garbage at each MiB and keeps the largest heap that remained.
// The heap between two collections is no measure, because on a busy machine a collection may come
// late.
type heapWatcher struct {
	seen int // bytes
	most uint64
}

func (w *heapWatcher) Write(p []byte) (int, error) {
	if before := w.seen >> 20; (w.seen+len(p))>>20 != before {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.most = max(w.most, m.HeapAlloc)
	}
	w.seen += len(p)
	return len(p), nil
}

// sinks checks that all output passes the sinks, and that standard error is reported at once.
func (h Harness) sinks(t *testing.T) {
	c := &conversation{}
	c.adapter, c.assignment = h.assign(t, contract.Task, "reply", "message: seen", "stderr: reading the task")
	out := c.run(t)
	if out.Failure != nil {
		t.Fatalf("Converse = %v, want a reply", out.Failure)
	}
	if got := c.stdout.String(); !strings.Contains(got, "seen") {
		t.Errorf("the sink of stdout got %q, want the reply in it", got)
	}
	if got := c.stderr.buf.String(); !strings.Contains(got, "reading the task\n") {
		t.Errorf("the sink of stderr got %q, want all of it", got)
	}
	if !slices.ContainsFunc(c.events, func(e agent.Event) bool {
		return strings.Contains(e.Text, "reading the task")
	}) {
		t.Errorf("events = %v, want the line of stderr among them", c.events)
	}
}

// vanished checks that no retry follows if the program is removed between check and start.
func (h Harness) vanished(t *testing.T) {
	adapter, assignment := h.assign(t, contract.Task, "reply")
	inv, err := adapter.Invoke(assignment)
	if err != nil {
		t.Fatal(err)
	}
	inv.Argv = slices.Clone(inv.Argv)
	inv.Argv[0] = filepath.Join(t.TempDir(), "gone")
	ctx := context.Background()
	_, err = attempt.Run(ctx, ctx, attempt.Spec{
		Adapter:    adapter,
		Invocation: inv,
		Contract:   assignment.Contract,
		Sinks:      attempt.Sinks{Redactor: redact.New(nil)},
	})
	if c, ok := err.(*agent.ConfigError); !ok || !strings.Contains(c.Text, inv.Argv[0]) {
		t.Errorf("Converse = %v, want a *ConfigError that names the command", err)
	}
}

func (h Harness) deaf(t *testing.T) {
	c := &conversation{}
	c.adapter, c.assignment = h.Deaf(t)
	c.assignment = complete(t, c.assignment, contract.Instruction)
	c.assignment.Input = []byte(`{"instruction":"` + strings.Repeat("x", 10<<20) + `"}`)
	if out := c.run(t); out.Failure != nil || out.Reply == nil {
		t.Errorf("Converse = %+v, %v, want a reply although 10 MiB of input are not read", out, out.Failure)
	}
}
