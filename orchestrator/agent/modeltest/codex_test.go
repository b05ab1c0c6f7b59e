package modeltest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/modeltest"
)

// codexArgs returns the arguments of a run that may write in its folder; more ones go before the
// "-" for standard input, subcommands (resume, fork) last, since they do not take -s.
func codexArgs(more ...string) []string {
	return append(append([]string{"exec", "--json", "--skip-git-repo-check", "-s", "workspace-write"}, more...), "-")
}

// item returns the last item of a type.
func (s output) item(kind string) object {
	for i := len(s.lines) - 1; i >= 0; i-- {
		if item, ok := s.lines[i]["item"].(object); ok && item["type"] == kind {
			return item
		}
	}
	return nil
}

func TestCodexText(t *testing.T) {
	c := start(t, "codex")
	script := modeltest.Play(modeltest.Say("All done."))
	script.Usage = &modeltest.Usage{Input: 5000, Cached: 3000, Output: 77}
	r := c.run(t, script, codexArgs("-m", "some-model", "-c", `developer_instructions="You are the Implementor."`)...)
	usage := r.lastLine("turn.completed", "")
	want(t, r, "exit code", r.code, 0, "text", r.item("agent_message")["text"], "All done.",
		"input", lookUp(usage, "usage", "input_tokens"), 5000.0, "cached", lookUp(usage, "usage", "cached_input_tokens"), 3000.0,
		"output", lookUp(usage, "usage", "output_tokens"), 77.0, "threads", r.count("thread.started", ""), 1,
		"warned of its home", strings.Contains(r.stderr, "PATH aliases"), false)
	q := c.server.Requests()
	want(t, r, "requests", len(q), 1, "model", q[0].Model, "some-model",
		"system prompt", strings.Contains(q[0].System, "You are the Implementor."), true)
	c.wantKnown(t)
}

func TestCodexTools(t *testing.T) {
	c := start(t, "codex")
	r := c.run(t, modeltest.Play(modeltest.WriteFile("out.txt", "hello\n"), modeltest.Shell("cat out.txt; exit 3"),
		modeltest.Say("Written.")), codexArgs()...)
	command := r.item("command_execution")
	want(t, r, "exit code", r.code, 0, "text", r.item("agent_message")["text"], "Written.",
		"code of the command", command["exit_code"], 3.0, "output", command["aggregated_output"], "hello\n")
	c.wantFile(t, "out.txt", "hello\n")
	want(t, r, "requests", len(c.server.Requests()), 3)
}

// TestCodexPatch: with a known model codex has its own tool for files and prints no warning of
// missing metadata.
func TestCodexPatch(t *testing.T) {
	c := start(t, "codex")
	const patch = "*** Begin Patch\n*** Add File: out.txt\n+hello\n*** End Patch\n"
	r := c.run(t, modeltest.Play(modeltest.Tool("apply_patch", patch), modeltest.Say("Written.")), codexArgs("-m", "gpt-5.5")...)
	want(t, r, "exit code", r.code, 0, "status", r.item("file_change")["status"], "completed", "warning", r.item("error") == nil, true)
	c.wantFile(t, "out.txt", "hello\n")
}

// TestCodexDenied: codex prints nothing of a command that the sandbox refuses; only the model
// learns of it.
func TestCodexDenied(t *testing.T) {
	c := start(t, "codex")
	r := c.run(t, modeltest.Play(modeltest.WriteFile("out.txt", "x"), modeltest.Say("Written.")),
		"exec", "--json", "--skip-git-repo-check", "-s", "read-only", "-")
	c.wantFile(t, "out.txt", "")
	q := c.server.Requests()
	want(t, r, "exit code", r.code, 0, "completed", r.count("turn.completed", ""), 1, "requests", len(q), 2)
	if told := r.item("command_execution"); told != nil { // on a busy machine, where the command takes longer
		want(t, r, "status", told["status"], "failed")
	}
	heard := q[1].Messages[len(q[1].Messages)-1].Text
	want(t, r, "heard", strings.Contains(heard, "Read-only file system"), true)
}

// TestCodexStructured: codex passes the schema on and validates nothing.
func TestCodexStructured(t *testing.T) {
	for name, step := range map[string]modeltest.Step{
		"good": modeltest.Structured(object{"status": "ok", "message": "m"}),
		"text": modeltest.Say("ok"),
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, "codex")
			schema := filepath.Join(c.dir, "schema.json")
			if err := os.WriteFile(schema, []byte(statusSchema), 0o644); err != nil {
				t.Fatal(err)
			}
			r := c.run(t, modeltest.Play(step), codexArgs("--output-schema", schema, "-o", "last.txt")...)
			text, _ := r.item("agent_message")["text"].(string)
			want(t, r, "exit code", r.code, 0, "asked for a schema", c.server.Requests()[0].Schema, true)
			c.wantFile(t, "last.txt", text)
		})
	}
}

func TestCodexFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault modeltest.Step
		text  string
	}{
		{"401", modeltest.Status(401), "unexpected status 401 Unauthorized: Incorrect API key provided"},
		{"429", modeltest.Status(429, "retry-after", "1"), "429 Too Many Requests"},
		{"500", modeltest.Status(500), "high demand"},
		{"529", modeltest.Status(529), "unexpected status 529"},
		{"cut", modeltest.Cut(), "stream disconnected before completion"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, "codex")
			r := c.run(t, modeltest.Play(tt.fault, modeltest.Say("x")), codexArgs()...)
			text, _ := lookUp(r.lastLine("turn.failed", ""), "error", "message").(string)
			want(t, r, "exit code", r.code, 1, "completed", r.count("turn.completed", ""), 0, "errors", r.count("error", ""), 2,
				"text", strings.Contains(text, tt.text), true, "requests", len(c.server.Requests()), 2)
		})
	}
}

// TestCodexLimited: a spent allowance is not waited for, and its renewal is a local time in a text.
// (A plain 429 with retry-after is waited for, with no more than "Reconnecting".)
func TestCodexLimited(t *testing.T) {
	c := start(t, "codex")
	r := c.run(t, modeltest.Play(modeltest.Limited(time.Now().Add(time.Hour), 0), modeltest.Say("x")), codexArgs()...)
	text, _ := lookUp(r.lastLine("turn.failed", ""), "error", "message").(string)
	want(t, r, "exit code", r.code, 1, "limit", strings.Contains(text, "hit your usage limit"), true,
		"time", strings.Contains(text, "try again at "), true, "requests", len(c.server.Requests()), 1)
}

func TestCodexFaultThatPasses(t *testing.T) {
	c := start(t, "codex")
	r := c.run(t, modeltest.Play(modeltest.Status(529).Times(1), modeltest.Shell("true"), modeltest.Cut().Times(1), modeltest.Say("Fine.")),
		codexArgs()...)
	want(t, r, "exit code", r.code, 0, "text", r.item("agent_message")["text"], "Fine.", "requests", len(c.server.Requests()), 4)
}

func TestCodexSilence(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault modeltest.Step
		sig   syscall.Signal
		code  int
	}{
		{"hang", modeltest.Hang(), syscall.SIGTERM, 143},
		{"stall", modeltest.Stall(), syscall.SIGTERM, 143},
		{"interrupted hang", modeltest.Hang(), syscall.SIGINT, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, "codex")
			end := c.begin(t, modeltest.Play(tt.fault).String(), codexArgs()...)
			c.server.Await(t, 1)
			r := end(tt.sig)
			want(t, r, "exit code", r.code, tt.code, "completed", r.count("turn.completed", ""), 0)
		})
	}
}

// TestCodexThreads: resume continues a thread, fork copies it. Tokens add up over the thread, and a
// copy begins with the original's.
func TestCodexThreads(t *testing.T) {
	c := start(t, "codex")
	first := c.run(t, modeltest.Play(modeltest.Say("one")), codexArgs()...)
	id, _ := first.lastLine("thread.started", "")["thread_id"].(string)
	resumed := c.run(t, modeltest.Play(modeltest.Say("two")), codexArgs("resume", id)...)
	want(t, resumed, "exit code", resumed.code, 0, "thread", resumed.lastLine("thread.started", "")["thread_id"], id,
		"text", resumed.item("agent_message")["text"], "two", "input", lookUp(resumed.lastLine("turn.completed", ""), "usage", "input_tokens"), 2000.0)
	forked := c.run(t, modeltest.Play(modeltest.Shell("true"), modeltest.Say("three")), codexArgs("fork", id)...)
	copied, _ := forked.lastLine("thread.started", "")["thread_id"].(string)
	want(t, forked, "exit code", forked.code, 0, "a thread of its own", copied != "" && copied != id, true,
		"input", lookUp(forked.lastLine("turn.completed", ""), "usage", "input_tokens"), 4000.0)
	q := c.server.Requests()
	want(t, forked, "remembers", len(q[2].Messages) > len(q[1].Messages), true)
	unknown := c.run(t, modeltest.Play(modeltest.Say("x")), codexArgs("resume", "01a1ff62-0000-75b0-a9e9-0d2583832624")...)
	want(t, unknown, "exit code of an unknown id", unknown.code, 1, "lines", len(unknown.lines), 0,
		"stderr", strings.Contains(unknown.stderr, "no rollout found"), true)
}

// TestCodexGoesOn: a run killed in the middle of a command resumes with the next step, without a
// script of its own.
func TestCodexGoesOn(t *testing.T) {
	c := start(t, "codex")
	end := c.begin(t, modeltest.Play(modeltest.Shell("touch began; exec sleep 60"), modeltest.Say("Slept.")).String(), codexArgs()...)
	waitFor(t, filepath.Join(c.dir, "began"))
	r := end(syscall.SIGTERM)
	id, _ := r.lastLine("thread.started", "")["thread_id"].(string)
	r = c.begin(t, "Go on.", codexArgs("resume", id)...)(0)
	want(t, r, "exit code", r.code, 0, "text", r.item("agent_message")["text"], "Slept.")
}
