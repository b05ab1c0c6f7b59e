package opencode_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/agent/opencode"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// TestRecorded: a run recorded with opencode 1.18.33.
func TestRecorded(t *testing.T) {
	streamtest.CheckRecording(t, opencode.New(), contract.Review, "testdata/tools.jsonl", proc.Exit{})
}

func TestConformance(t *testing.T) {
	streamtest.Conformance(t, opencode.New(), "fake-opencode", map[string]string{"empty": "without an end of its last step"})
}

// TestLostSession: the words are those of opencode 1.18.33.
func TestLostSession(t *testing.T) {
	streamtest.CheckLostSession(t, opencode.New(), "fake-opencode", "\x1b[91m\x1b[1mError: \x1b[0mSession not found")
}

func TestLongLine(t *testing.T) {
	streamtest.CheckLongLine(t, opencode.New(), begin+text("an earlier one"), `{"type":"text","part":{"type":"text","text":"`, "\"}}\n"+end("stop"))
}

func FuzzReader(f *testing.F) { streamtest.FuzzReader(f, opencode.New(), "stop") }

func read(exit proc.Exit, stream string) agent.Report {
	return streamtest.Read(opencode.New(), contract.Task, []byte(stream), 100, exit).Report
}

// TestEnd: a reply needs a step marked as the last, a text behind all tools, and exit status 0.
func TestEnd(t *testing.T) {
	const reply = `{"status":"ok","message":"m"}`
	for _, tt := range []struct {
		name, stream  string
		exit          proc.Exit
		reply, reason string
	}{
		{"all is well", begin + text(reply) + end("stop"), proc.Exit{}, reply, ""},
		{"behind a tool", begin + text("I begin.") + used("") + end("tool-calls") + begin + text(reply) + end("stop"), proc.Exit{}, reply, ""},
		{"behind a tool that failed", begin + used("no file") + end("tool-calls") + begin + text(reply) + end("stop"), proc.Exit{}, reply, ""},
		{"no text behind a tool", begin + text(reply) + used("") + end("stop"), proc.Exit{}, "", "ended without a message"},
		{"nothing", "", proc.Exit{}, "", "without an end of its last step"},
		{"no end", begin + text(reply), proc.Exit{}, reply, "without an end of its last step"},
		{"an end that is none", begin + text(reply) + end("length"), proc.Exit{}, reply, "ended with length"},
		{"a new step", begin + text(reply) + end("stop") + begin, proc.Exit{}, reply, "without an end of its last step"},
		{"a bad exit", begin + text(reply) + end("stop"), proc.Exit{Code: 1}, reply, "exit status 1"},
		{"too late", begin + text(reply) + end("stop"), proc.Exit{TimedOut: true, Timeout: time.Second}, reply, "timed out after 1s"},
		{"an error", begin + text(reply) + end("stop") + failed("UnknownError", `{"message":"boom"}`), proc.Exit{Code: 1}, reply, "exit status 1: UnknownError: boom"},
		{"an error without words", failed("", "{}"), proc.Exit{}, "", "it failed"},
		{"half a line", begin + text(reply) + `{"type":"te` + "\n" + end("stop"), proc.Exit{}, `{"type":"te`, "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := read(tt.exit, tt.stream)
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

// TestSpent: the steps of a run add up, with the cached and reasoning tokens that opencode counts
// apart.
func TestSpent(t *testing.T) {
	got := read(proc.Exit{}, begin+end("tool-calls")+begin+text("x")+end("stop")).Spent
	if got == nil || got.Input != 246 || got.Cached != 60 || got.Output != 14 || got.Cost == nil || *got.Cost != 500_000 {
		t.Errorf("Spent = %+v, want 246, 60 and 14 tokens for half a dollar", got)
	}
	if got := read(proc.Exit{}, begin).Spent; got != nil {
		t.Errorf("Spent = %+v, want nil where it is unknown", got)
	}
}

func TestHopeless(t *testing.T) {
	const config, later = "*agent.ConfigError", "*agent.LaterError"
	for _, tt := range []struct{ name, data, want string }{
		{"APIError", `{"statusCode":401,"isRetryable":false,"message":"no key"}`, config},
		{"APIError", `{"statusCode":403,"message":"no"}`, config},
		{"APIError", `{"statusCode":404,"message":"no such model"}`, config},
		{"ProviderAuthError", `{"providerID":"x","message":"no key"}`, config},
		{"ProviderModelNotFoundError", `{"providerID":"x","modelID":"y"}`, config},
		{"APIError", `{"statusCode":429,"message":"slow down"}`, later},
		{"APIError", `{"statusCode":402,"message":"no credit"}`, config},
		{"APIError", `{"statusCode":429,"message":"You exceeded your current quota, please check your plan and billing details."}`, config},
		{"APIError", `{"statusCode":500,"message":"internal"}`, later},
		{"UnknownError", `{"message":"Unexpected server error."}`, ""},
	} {
		got := read(proc.Exit{Code: 1}, failed(tt.name, tt.data))
		if kind := strings.ReplaceAll(fmt.Sprintf("%T", got.Err), "<nil>", ""); kind != tt.want || got.Failure == nil {
			t.Errorf("%s %s: Err = %s %v, %v, want %s", tt.name, tt.data, kind, got.Err, got.Failure, tt.want)
		}
	}
}

func TestInvoke(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const instructions = `OPENCODE_CONFIG_CONTENT={"instructions":["AGENTS.md","CLAUDE.md"]}`
	for _, tt := range []struct {
		name       string
		assignment agent.Assignment
		argv, env  []string
	}{
		{"all options", agent.Assignment{Options: agent.Options{Model: "p/m"}, Args: []string{"--variant", "high"}},
			[]string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto", "-m", "p/m", "--variant", "high"}, []string{"A=b", "OPENCODE_PERMISSION=x"}},
		{"full", agent.Assignment{Options: agent.Options{Permission: agent.Full}}, []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto"}, []string{"A=b", "OPENCODE_PERMISSION=x"}},
		{"edit", agent.Assignment{Options: agent.Options{Permission: agent.Edit}}, []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR"}, []string{"A=b", `OPENCODE_PERMISSION={"edit":"allow","bash":"deny"}`, "OPENCODE_DISABLE_PROJECT_CONFIG=1", instructions}},
		{"read-only", agent.Assignment{Options: agent.Options{Permission: agent.ReadOnly}}, []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR"},
			[]string{"A=b", `OPENCODE_PERMISSION={"edit":"deny","bash":"deny"}`, "OPENCODE_DISABLE_PROJECT_CONFIG=1", instructions}},
		{"resume", agent.Assignment{Follow: &agent.Follow{Session: "s"}}, []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto", "--session", "s"},
			[]string{"A=b", "OPENCODE_PERMISSION=x"}},
		{"fork", agent.Assignment{Follow: &agent.Follow{Session: "s", Fork: true}}, []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto", "--session", "s", "--fork"},
			[]string{"A=b", "OPENCODE_PERMISSION=x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.assignment
			a.Command, a.Prompt, a.Input, a.Env = []string{self}, "Be good.", []byte(`{"x":1}`), []string{"A=b", "OPENCODE_PERMISSION=x"}
			inv, err := opencode.New().Invoke(a)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(inv.Argv[1:], tt.argv) || !slices.Equal(inv.Env, tt.env) {
				t.Errorf("Argv = %q, Env = %q, want %q, %q", inv.Argv[1:], inv.Env, tt.argv, tt.env)
			}
			if !strings.HasPrefix(string(inv.Stdin), "Be good.\n\n") {
				t.Errorf("Stdin = %.60q, want the role first", inv.Stdin)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for want, a := range map[string]agent.Assignment{
		"max_turns": {Options: agent.Options{MaxTurns: 1}}, "max_cost": {Options: agent.Options{MaxCost: 1}}, "mcp_config": {Options: agent.Options{MCP: "x"}}, `permission "root"`: {Options: agent.Options{Permission: "root"}},
	} {
		a.Command = []string{self}
		if err := opencode.New().Check(a); !errors.As(err, new(*agent.ConfigError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want a *ConfigError with %s", err, want)
		}
	}
	if err := opencode.New().Check(agent.Assignment{Command: []string{self}, Options: agent.Options{Model: "m", Permission: agent.Full}, Review: true}); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}
