package acp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/internal/agenttest"
	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/contract"

	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/proc"
)

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConformance: a stub's reply, or bad end, passes through the client. Invalid UTF-8 cannot: the
// SDK replaces it.
func TestConformance(t *testing.T) {
	t.Parallel() // it waits, with the client, for agents that have ended; so does TestLingers
	streamtest.Conformance(t, acp.New(self(t)), "fake-acp", map[string]string{
		"empty": "the agent ended before its turn did (exit status 0)", "crash": "the agent ended before its turn did (signal: killed)",
		"exit": "the agent ended before its turn did (exit status 1)", "ok-exit-1": "the agent ended before its turn did (exit status 1)",
	}, "invalid-utf8")
}

// converse runs a conversation with an agent of this binary.
func converse(t *testing.T, stop context.Context, a agent.Assignment) (streamtest.Conversation, string) {
	t.Helper()
	if a.Dir == "" {
		a.Dir = t.TempDir()
	}
	if len(a.Command) == 1 {
		a.Command = []string{self(t), a.Command[0]}
	}
	a.Env = append(a.Env, agenttest.QuietEnv(t)...)
	a.Grace, a.Timeout = 10*time.Second, time.Minute
	adapter := acp.New(self(t))
	if err := adapter.Check(a); err != nil {
		t.Fatal(err)
	}
	inv, err := adapter.Invoke(a)
	if err != nil {
		t.Fatal(err)
	}
	return streamtest.Converse(t, stop, adapter, &inv, a.Contract), a.Dir
}

func act(lines ...string) agent.Assignment {
	return agent.Assignment{Command: []string{"actor"}, Contract: contract.Review, Input: []byte(strings.Join(lines, "\n"))}
}

// TestTurn: the reply is the agent's text since its last tool, within the turn.
func TestTurn(t *testing.T) {
	for _, tt := range []struct {
		name          string
		lines         []string
		reply, reason string
	}{
		{"a text", []string{"!say Done."}, "Done.", ""},
		{"in parts, and with a thought between them", []string{"!say Do", "!think hm", "!say ne."}, "Done.", ""},
		{"behind a tool", []string{"!say I begin.", "!tool edit", "!say Done."}, "Done.", ""},
		{"nothing behind a tool", []string{"!say Done.", "!tool edit"}, "", "ended without a message"},
		{"a thought alone", []string{"!think Done."}, "", "ended without a message"},
		{"an end that is none", []string{"!say Done.", "!stop max_tokens"}, "", "its turn ended with max_tokens"},
		{"a refusal", []string{"!stop refusal"}, "", "its turn ended with refusal"},
		{"an error", []string{"!say Done.", "!fail 500"}, "", "the provider says 500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, _ := converse(t, t.Context(), act(tt.lines...))
			if tt.reason != "" {
				h.WantFailure(t, tt.reason)
				return
			}
			h.WantReply(t, tt.reply)
			if h.Session != "s-1" || !h.HasEvent(agent.Result, "end_turn") {
				t.Errorf("session %q, events %v, want s-1 and a result", h.Session, h.Events)
			}
		})
	}
}

// TestPermission: the permission answers each request, for once if that is offered, and denials are
// reported.
func TestPermission(t *testing.T) {
	for _, tt := range []struct {
		permission agent.Permission
		allowed    []string
	}{
		{agent.ReadOnly, []string{"read", "search", "think"}},
		{agent.Edit, []string{"read", "search", "think", "edit", "delete", "move"}},
		{agent.Full, []string{"read", "search", "think", "edit", "delete", "move", "execute", "fetch", "other"}},
		{"", []string{"read", "search", "think", "edit", "delete", "move", "execute", "fetch", "other"}},
	} {
		t.Run(string(tt.permission), func(t *testing.T) {
			var lines []string
			for _, kind := range []string{"read", "search", "think", "edit", "delete", "move", "execute", "fetch", "other"} {
				lines = append(lines, "!tool "+kind)
			}
			a := act(append(lines, "!say Done.")...)
			a.Permission = tt.permission
			h, dir := converse(t, t.Context(), a)
			for _, line := range lines {
				kind := strings.TrimPrefix(line, "!tool ")
				_, err := os.Stat(filepath.Join(dir, "made-"+kind))
				if got, want := err == nil, slices.Contains(tt.allowed, kind); got != want {
					t.Errorf("%s was allowed: %t, want %t", kind, got, want)
				}
				if !h.HasEvent(agent.ToolStarted, "do "+kind) || !h.HasEvent(agent.ToolEnded, kind) {
					t.Errorf("events %v, want the beginning and the end of %s", h.Events, kind)
				}
			}
			if len(tt.allowed) == len(lines) {
				h.WantReply(t, "Done.")
				return
			}
			streamtest.WantErr[*agent.ConfigError](t, h, "permission denied: ")
			if got := h.HasEvent(agent.Text, "permission denied: execute (do execute)"); !got {
				t.Errorf("events %v, want the denied command", h.Events)
			}
		})
	}
}

// TestHopeless: what no retry can mend.
func TestHopeless(t *testing.T) {
	h, _ := converse(t, t.Context(), act("!fail 401"))
	streamtest.WantErr[*agent.ConfigError](t, h, "the provider says 401")
	h, _ = converse(t, t.Context(), act("!fail 429"))
	streamtest.WantErr[*agent.LaterError](t, h, "the provider says 429")
	a := act("!say x")
	a.Env = []string{"FAKE_LOGIN=1"}
	h, _ = converse(t, t.Context(), a)
	err := streamtest.WantErr[*agent.ConfigError](t, h, "Authentication required")
	if !strings.Contains(err.Hint(), "log in") {
		t.Errorf("hint %q", err.Hint())
	}
	a = act("!say x")
	a.Model = "bad"
	h, _ = converse(t, t.Context(), a)
	streamtest.WantErr[*agent.ConfigError](t, h, "does not take the model bad")
	h, _ = converse(t, t.Context(), gone(t))
	streamtest.WantErr[*agent.ConfigError](t, h, "the agent cannot be started")
}

// gone is an agent that is removed between the check and the start.
func gone(t *testing.T) agent.Assignment {
	t.Helper()
	a := act("!say x")
	script := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a.Command = []string{script, "x"}
	return a
}

func TestModelAndUsage(t *testing.T) {
	a := act("!model", "!usage")
	a.Model = "good"
	h, _ := converse(t, t.Context(), a)
	h.WantReply(t, "good")
	if s := h.Spent; s == nil || s.Input != 40 || s.Cached != 30 || s.Output != 7 || s.Cost == nil || *s.Cost != 500_000 || h.Cumulative {
		t.Errorf("Spent = %+v, want 40, 30 and 7 tokens for half a dollar", s)
	}
}

// TestCancelled: a stopped agent is asked to end its turn.
func TestCancelled(t *testing.T) {
	stop, cancel := context.WithCancel(t.Context())
	a := act("!hang")
	a.Dir = t.TempDir()
	a.Command = []string{self(t), "actor"}
	defer cancel()
	go func() {
		for pause := time.Millisecond; stop.Err() == nil; pause = min(pause*3/2, 20*time.Millisecond) {
			if _, err := os.Stat(filepath.Join(a.Dir, "began")); err == nil {
				cancel()
			}
			time.Sleep(pause)
		}
	}()
	h, _ := converse(t, stop, a)
	if !h.IsStopped() || h.Session != "s-1" {
		t.Errorf("Outcome = %+v, want it to be stopped, with its session", h.Ended)
	}
	if !h.HasEvent(agent.Text, "I leave.") || !h.HasEvent(agent.Result, "cancelled") {
		t.Errorf("events %v, want what the agent said when it was told", h.Events)
	}
}

// TestHasty: an answer counts although its agent has ended.
func TestHasty(t *testing.T) {
	for range 10 {
		h, _ := converse(t, t.Context(), agent.Assignment{Command: []string{"hasty"}, Contract: contract.Task})
		h.WantReply(t, "bye")
	}
}

// TestLingers: neither an agent that stays nor a process that it left is waited for.
func TestLingers(t *testing.T) {
	t.Parallel()
	h, _ := converse(t, t.Context(), act("!say Done.", "!stay"))
	h.WantReply(t, "Done.")
	h, _ = converse(t, t.Context(), act("!leak"))
	h.WantFailure(t, "the agent ended before its turn did (exit status 4)")
}

// TestNoAgent: a program that does not speak the protocol ends.
func TestNoAgent(t *testing.T) {
	h, _ := converse(t, t.Context(), agent.Assignment{Command: []string{self(t), stub.Command, "--no-such-flag"}})
	h.WantFailure(t, "the agent ended before its turn did (exit status 2)")
}

func TestClientUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"--permission", "full"}, {"--no-such-flag"}} {
		if code := acp.ClientMain(args, strings.NewReader(""), &strings.Builder{}, &strings.Builder{}); code != 2 {
			t.Errorf("ClientMain(%q) = %d, want 2", args, code)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, a := range map[string]agent.Assignment{
		"review": {Review: true}, "max_turns": {Options: agent.Options{MaxTurns: 1}}, "max_cost": {Options: agent.Options{MaxCost: 1}}, "mcp_config": {Options: agent.Options{MCP: "x"}}, "no permission root": {Options: agent.Options{Permission: "root"}},
		"no command is set": {Command: []string{""}}, "cannot start no-such-agent": {Command: []string{"no-such-agent"}},
	} {
		if a.Command == nil {
			a.Command = []string{self(t)}
		}
		var config *agent.ConfigError
		if err := acp.New(self(t)).Check(a); !errors.As(err, &config) || !strings.Contains(config.Text, want) || config.Hint() == "" {
			t.Errorf("Check = %v, want a *ConfigError with %q and a hint", err, want)
		}
	}
}

func TestInvoke(t *testing.T) {
	inv, err := acp.New("/bin/kanban-run").Invoke(agent.Assignment{Command: []string{self(t), "--acp"}, Args: []string{"-x"}, Options: agent.Options{Model: "m", Permission: agent.Edit}, Prompt: "Be good.", Input: []byte(`{"x":1}`)})
	want := []string{"/bin/kanban-run", "acp-client", "--permission", "edit", "--model", "m", "--", self(t), "--acp", "-x"}
	if err != nil || !slices.Equal(inv.Argv, want) || !strings.HasPrefix(string(inv.Stdin), "Be good.\n\nYour input:\n\n{\"x\":1}\n") {
		t.Errorf("Invoke = %q, %.60q, %v, want %q", inv.Argv, inv.Stdin, err, want)
	}
}

const turnEnd = `{"type":"result","text":"end_turn"}` + "\n"

func textLine(text string) string {
	return fmt.Sprintf(`{"type":"text","text":%s}`+"\n", streamtest.Quote([]byte(text)))
}

// TestEnd: a reply needs the end of the turn, a message and a client that ended well.
func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		name, stream  string
		exit          proc.Exit
		reply, reason string
	}{
		{"all is well", textLine("x") + turnEnd, proc.Exit{}, "x", ""},
		{"nothing", "", proc.Exit{}, "", "without an end of its turn"},
		{"no end", textLine("x"), proc.Exit{}, "x", "without an end of its turn"},
		{"a bad exit", textLine("x") + turnEnd, proc.Exit{Code: 1}, "x", "exit status 1"},
		{"too late", `{"type":"error","text":"terminated"}`, proc.Exit{TimedOut: true, Timeout: time.Second}, "terminated", "timed out after 1s"},
		{"invalid UTF-8", textLine("\xff") + turnEnd, proc.Exit{}, strings.TrimSpace(textLine("\xff")), "invalid UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := streamtest.Read(acp.New("x"), contract.Review, []byte(tt.stream), 100, tt.exit).Report
			reason := ""
			if got.Failure != nil {
				reason = got.Failure.Reason
			}
			if (reason == "") != (tt.reason == "") || !strings.Contains(reason, tt.reason) || string(got.Reply) != tt.reply || got.Err != nil {
				t.Errorf("End = %q, reason %q, %v, want %q, reason %q", got.Reply, reason, got.Err, tt.reply, tt.reason)
			}
		})
	}
}

// TestRecorded: the client's output of a session with gemini 0.61.0.
func TestRecorded(t *testing.T) {
	streamtest.CheckRecording(t, acp.New("x"), contract.Task, "testdata/gemini.jsonl", proc.Exit{})
}

func FuzzReader(f *testing.F) { streamtest.FuzzReader(f, acp.New("x"), "end_turn") }
