package codex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// TestRecorded: runs recorded with codex 0.169.0.
func TestRecorded(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind contract.Kind
		code int
	}{
		{"tools", contract.Review, 0},
		{"schema", contract.Manager, 0},
		{"mcp", contract.Review, 0},
		{"400", contract.Task, 1},
		{"401", contract.Task, 1},
		{"500", contract.Task, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			streamtest.CheckRecording(t, codex.New(), tt.kind, "testdata/"+tt.name+".jsonl", proc.Exit{Code: tt.code})
		})
	}
}

func TestConformance(t *testing.T) {
	streamtest.Conformance(t, codex.New(), "fake-codex", map[string]string{"empty": "it ended without an end of its turn"})
}

// TestLostSession: the words are those of codex 0.169.0.
func TestLostSession(t *testing.T) {
	streamtest.CheckLostSession(t, codex.New(), "fake-codex", "Error: thread/resume: thread/resume failed: "+
		"no rollout found for thread id 01a1ff62-0000-75b0-a9e9-0d2583832624")
}

// TestLongLine: the line may have been the reply, so that no earlier message counts.
func TestLongLine(t *testing.T) {
	streamtest.CheckLongLine(t, codex.New(), message("an earlier one"), `{"type":"item.completed","item":{"type":"agent_message","text":"`, "\"}}\n"+completed)
}

const completed = `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5}}` + "\n"

func message(text string) string {
	return fmt.Sprintf(`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":%s}}`+"\n", streamtest.Quote([]byte(text)))
}

func read(c contract.Kind, exit proc.Exit, stream string) streamtest.Transcript {
	return streamtest.Read(codex.New(), c, []byte(stream), 100, exit)
}

// TestEnd: a reply needs a completed turn, a message and a good exit.
func TestEnd(t *testing.T) {
	const reply = `{"status":"ok","message":"m"}`
	for _, tt := range []struct {
		name, stream  string
		exit          proc.Exit
		reply, reason string
	}{
		{"all is well", message(reply) + completed, proc.Exit{}, reply, ""},
		{"the last of two messages", message("I begin.") + message(reply) + completed, proc.Exit{}, reply, ""},
		{"in a fence", message("Done:\n```json\n"+reply+"\n```\n") + completed, proc.Exit{}, reply, ""},
		{"nothing", "", proc.Exit{}, "", "without an end of its turn"},
		{"no end", message(reply), proc.Exit{}, reply, "without an end of its turn"},
		{"no message", completed, proc.Exit{}, "", "without a message"},
		{"a bad exit", message(reply) + completed, proc.Exit{Code: 1}, reply, "exit status 1"},
		{"a signal", message(reply) + completed, proc.Exit{Code: 143, Signal: "terminated"}, reply, "killed by signal: terminated"},
		{"too late", message(reply) + completed, proc.Exit{TimedOut: true, Timeout: time.Second}, reply, "timed out after 1s"},
		{"a failed turn", message(reply) + `{"type":"turn.failed","error":{"message":"boom"}}`, proc.Exit{}, reply, "the turn failed: boom"},
		{"a failed turn without words", `{"type":"turn.failed"}`, proc.Exit{Code: 1}, "", "exit status 1: the turn failed"},
		{"an error without an end", message(reply) + `{"type":"error","message":"boom"}`, proc.Exit{}, reply, "the turn failed: boom"},
		{"a second turn", message("one") + completed + `{"type":"turn.started"}` + "\n", proc.Exit{}, "one", "without an end of its turn"},
		{"an error that passed", `{"type":"error","message":"boom"}` + "\n" + message(reply) + completed, proc.Exit{}, reply, ""},
		{"a word among the lines", message(reply) + "a new version is there\n" + completed, proc.Exit{}, reply, ""},
		{"half a line", message(reply) + `{"type":"item.compl` + "\n" + completed, proc.Exit{}, `{"type":"item.compl`, "cannot be read"},
		{"invalid UTF-8", message("\xff") + completed, proc.Exit{}, strings.TrimSpace(message("\xff")), "invalid UTF-8"},
		{"half a line behind the end", message(reply) + completed + `{"type":"item.compl`, proc.Exit{}, reply, ""},
		{"a long line behind the end", message(reply) + completed + `{"type":"` + strings.Repeat("x", 33<<20), proc.Exit{}, reply, ""},
		{"half a line behind an end without a message", completed + `{"type":"item.compl`, proc.Exit{}, "", "without a message"},
		{"half a line in a second turn", message("one") + completed + `{"type":"turn.started"}` + "\n" + `{"type":"item.compl` + "\n" + completed, proc.Exit{},
			`{"type":"item.compl`, "cannot be read"},
		{"half a line, and a message after it", `{"type":"item.compl` + "\n" + message(reply) + completed, proc.Exit{}, reply, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := read(contract.Task, tt.exit, tt.stream).Report
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

// TestWarns: a line that cannot be read is a warning, wherever it stands. Seed 003, "解析错误处理".
func TestWarns(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"item.compl`:     "warning: a line of its output cannot be read (unexpected end of JSON input)",
		"panic: it is all over":   "warning: a line of its output cannot be read (not a JSON object): panic: it is all over",
		`["a", "list"]`:           `warning: a line of its output cannot be read (not a JSON object): ["a", "list"]`,
		`{"type":"item.x"} again`: "warning: a line of its output cannot be read (invalid character 'a' after top-level value)",
	} {
		for where, stream := range map[string]string{
			"before": line + "\n" + message("m") + completed,
			"behind": message("m") + completed + line,
		} {
			got := read(contract.Review, proc.Exit{}, stream)
			if !slices.ContainsFunc(got.Events, func(e agent.Event) bool { return e.String() == want }) || got.Report.Failure != nil || string(got.Report.Reply) != "m" {
				t.Errorf("%s %s the rest: heard %s, want %q and the reply", line, where, got, want)
			}
		}
	}
}

// TestReview: the reply of a review is the whole message, fences included. Seed 003, "Supervisor
// Feedback".
func TestReview(t *testing.T) {
	const text = "Fix it:\n```json\n{}\n```\n"
	if got := read(contract.Review, proc.Exit{}, message(text)+completed).Report; got.Failure != nil || string(got.Reply) != text {
		t.Errorf("End = %q, %v, want %q", got.Reply, got.Failure, text)
	}
}

func FuzzReader(f *testing.F) { streamtest.FuzzReader(f, codex.New(), "turn.completed") }
