package gemini_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/gemini"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// TestRecorded: runs recorded with gemini 0.61.0.
func TestRecorded(t *testing.T) {
	for _, name := range []string{"tools", "mcp"} {
		t.Run(name, func(t *testing.T) {
			streamtest.CheckRecording(t, gemini.New(), contract.Review, "testdata/"+name+".jsonl", proc.Exit{})
		})
	}
}

func TestConformance(t *testing.T) {
	streamtest.Conformance(t, gemini.New(), "fake-gemini", map[string]string{"empty": "it ended without a result"})
}

func TestLongLine(t *testing.T) {
	streamtest.CheckLongLine(t, gemini.New(), message("an earlier one"), `{"type":"message","role":"assistant","content":"`, "\"}\n"+success)
}

func FuzzReader(f *testing.F) { streamtest.FuzzReader(f, gemini.New(), "success") }

func read(exit proc.Exit, stream string) agent.Report {
	return streamtest.Read(gemini.New(), contract.Task, []byte(stream), 100, exit).Report
}

const (
	use    = `{"type":"tool_use","tool_name":"write_file","tool_id":"w1","parameters":{}}` + "\n"
	used   = `{"type":"tool_result","tool_id":"w1","status":"success"}` + "\n"
	denied = `{"type":"tool_result","tool_id":"w1","status":"error","error":{"type":"policy_violation","message":"denied by policy"}}` + "\n"
	missed = `{"type":"tool_result","tool_id":"w1","status":"error","error":{"type":"file_not_found","message":"no file"}}` + "\n"
)

// TestEnd: a reply needs a successful result, a message behind all tools, and exit status 0.
func TestEnd(t *testing.T) {
	const reply = `{"status":"ok","message":"m"}`
	for _, tt := range []struct {
		name, stream  string
		exit          proc.Exit
		reply, reason string
	}{
		{"all is well", message(reply) + success, proc.Exit{}, reply, ""},
		{"in parts", message(reply[:9]) + message(reply[9:]) + success, proc.Exit{}, reply, ""},
		{"behind a tool", message("I begin.") + use + used + message(reply) + success, proc.Exit{}, reply, ""},
		{"behind a tool that failed", use + missed + message(reply) + success, proc.Exit{}, reply, ""},
		{"while a tool works", use + message("{I wait.") + used + message(reply) + success, proc.Exit{}, reply, ""},
		{"nothing behind a tool", message(reply) + use + used + success, proc.Exit{}, "", "ended without a message"},
		{"nothing", "", proc.Exit{}, "", "without a result"},
		{"a stream that was cut, and status 0", message(reply) + failed("[API Error: terminated]"), proc.Exit{}, reply, "the result is error: terminated"},
		{"a signal, and status 0", message(reply), proc.Exit{}, reply, "without a result"},
		{"a bad exit", message(reply) + success, proc.Exit{Code: 1}, reply, "exit status 1"},
		{"too late", message(reply) + success, proc.Exit{TimedOut: true, Timeout: time.Second}, reply, "timed out after 1s"},
		{"half a line", message(reply) + `{"type":"mess` + "\n" + success, proc.Exit{}, `{"type":"mess`, "cannot be read"},
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

// TestTold: the text before two tools is reported once.
func TestTold(t *testing.T) {
	h := streamtest.Read(gemini.New(), contract.Task, []byte(message("I be")+message("gin.")+use+use+used+used+message("Done.")+success), 100, proc.Exit{})
	var told []string
	for _, e := range h.Events {
		if e.Kind == agent.Text {
			told = append(told, e.Text)
		}
	}
	if !slices.Equal(told, []string{"I begin.", "Done."}) {
		t.Errorf("told %q, want each message once", told)
	}
}

func TestHopeless(t *testing.T) {
	const config, later = "*agent.ConfigError", "*agent.LaterError"
	const key = `[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`
	for _, tt := range []struct {
		text string
		code int
		want string
	}{
		{`[API Error: {"error":{"code":401,"message":"no"}}]`, 145, config},
		{`[API Error: {"error":{"code":403,"message":"no"}}]`, 147, config},
		{key, 144, config},
		{"", 41, config},
		{"", 52, config},
		{"[API Error: models/x is not found for API version v1beta]", 1, config},
		{`[API Error: {"error":{"code":429,"message":"exhausted"}}]`, 173, later},
		{"[API Error: You have exhausted your capacity on this model. Your quota will reset after 3h20m10s.]", 1, later},
		{`[API Error: {"error":{"code":500,"message":"internal"}}]`, 500 % 256, later},
		{"[API Error: terminated]", 1, ""},
		{"", 1, ""},
	} {
		stream := ""
		if tt.text != "" {
			stream = failed(tt.text)
		}
		before := time.Now()
		got := read(proc.Exit{Code: tt.code}, stream)
		if got.Failure == nil {
			t.Errorf("%d %s: no failure", tt.code, tt.text)
		}
		if kind := strings.ReplaceAll(fmt.Sprintf("%T", got.Err), "<nil>", ""); kind != tt.want {
			t.Errorf("%d %s: Err = %s %v, want %s", tt.code, tt.text, kind, got.Err, tt.want)
		}
		var limit *agent.LaterError
		if wait := 3*time.Hour + 20*time.Minute + 10*time.Second; strings.Contains(tt.text, "3h20m10s") &&
			(!errors.As(got.Err, &limit) || limit.Reset.Before(before.Add(wait)) || limit.Reset.After(time.Now().Add(wait))) {
			t.Errorf("Err = %v, want a reset in %v", got.Err, wait)
		}
	}
}

// TestInvoke: the role stands before the input, so that gemini keeps its own system prompt.
func TestInvoke(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		permission agent.Permission
		mode       string
	}{{"", "yolo"}, {agent.Full, "yolo"}, {agent.Edit, "auto_edit"}, {agent.ReadOnly, "plan"}} {
		inv, err := gemini.New().Invoke(agent.Assignment{Command: []string{self}, Prompt: "Be good.", Input: []byte(`{"x":1}`), Options: agent.Options{Model: "m", Permission: tt.permission}, Args: []string{"--debug"}})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"-o", "stream-json", "--approval-mode", tt.mode, "-m", "m", "--debug"}; !slices.Equal(inv.Argv[1:], want) {
			t.Errorf("Argv = %q, want %q", inv.Argv[1:], want)
		}
		if want := "Be good.\n\nYour input:\n\n{\"x\":1}\n"; !strings.HasPrefix(string(inv.Stdin), want) {
			t.Errorf("Stdin = %.60q, want %q", inv.Stdin, want)
		}
	}
	for want, a := range map[string]agent.Assignment{
		"review": {Review: true}, "max_turns": {Options: agent.Options{MaxTurns: 1}}, "max_cost": {Options: agent.Options{MaxCost: 1}}, "mcp_config": {Options: agent.Options{MCP: "x"}}, `permission "root"`: {Options: agent.Options{Permission: "root"}},
	} {
		a.Command = []string{self}
		if err := gemini.New().Check(a); !errors.As(err, new(*agent.ConfigError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want a *ConfigError with %s", err, want)
		}
	}
	if err := gemini.New().Check(agent.Assignment{Command: []string{self}, Options: agent.Options{Model: "m", Tools: []string{"x"}, Permission: agent.Full}}); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}

// TestWatchStderr: gemini sleeps in silence until a quota is renewed, and says so on standard error alone.
// Other lines there, and a pause of seconds, end nothing.
func TestWatchStderr(t *testing.T) {
	for line, ends := range map[string]bool{
		"Attempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 3h39m21s.. Retrying after 13161085ms...": true,
		"Attempt 1 failed: You have exhausted your daily quota. Retrying after 13161085ms...":                                                   true,
		"Attempt 1 failed: You exceeded your current quota. Please retry in 5.7s.. Retrying after 5749ms...":                                    false,
		"Attempt 1 failed with status 503. Retrying with backoff... ":                                                                           false,
		"Loaded cached credentials.": false,
	} {
		var gaveUp []error
		r := gemini.New().Reader(contract.Task, agent.Host{Emit: func(agent.Event) {}, GiveUp: func(err error) { gaveUp = append(gaveUp, err) }})
		r.(agent.StderrWatcher).WatchStderr(line)
		var later *agent.LaterError
		if ended := len(gaveUp) == 1 && errors.As(gaveUp[0], &later) && !later.Reset.IsZero(); ended != ends {
			t.Errorf("%s: gave up %v, want an end: %t", line, gaveUp, ends)
		}
	}
}
