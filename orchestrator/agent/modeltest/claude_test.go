package modeltest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/modeltest"
)

// claudeArgs returns the arguments of a run with all permissions.
func claudeArgs(more ...string) []string {
	return append([]string{"-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}, more...)
}

const statusSchema = `{"type":"object","properties":{"status":{"enum":["ok","blocked","error","escalate"]},"message":{"type":"string"}},` +
	`"required":["status","message"],"additionalProperties":false}`

func TestClaudeText(t *testing.T) {
	c := start(t, "claude")
	script := modeltest.Play(modeltest.Say("All done."))
	script.Usage = &modeltest.Usage{Input: 5000, Cached: 3000, Output: 77}
	r := c.run(t, script, claudeArgs("--model", "claude-sonnet-4-5", "--append-system-prompt", "You are the Implementor.")...)
	result := r.lastLine("result", "")
	want(t, r,
		"exit code", r.code, 0,
		"subtype", result["subtype"], "success",
		"is_error", result["is_error"], false,
		"result", result["result"], "All done.",
		"input", lookUp(result, "usage", "input_tokens"), 2000.0,
		"cached", lookUp(result, "usage", "cache_read_input_tokens"), 3000.0,
		"output", lookUp(result, "usage", "output_tokens"), 77.0,
		"version", r.lastLine("system", "init")["claude_code_version"], "2.1.328",
		"permissionMode", r.lastLine("system", "init")["permissionMode"], "bypassPermissions")
	q := c.server.Requests()
	want(t, r, "requests", len(q), 1, "model", q[0].Model, "claude-sonnet-4-5",
		"system prompt", strings.Contains(q[0].System, "You are the Implementor."), true)
	c.wantKnown(t)
}

func TestClaudeTools(t *testing.T) {
	c := start(t, "claude")
	r := c.run(t, modeltest.Play(modeltest.WriteFile(filepath.Join(c.dir, "out.txt"), "hello\n"), modeltest.Shell("cat out.txt; exit 3"),
		modeltest.Say("Written.")), claudeArgs()...)
	result := r.lastLine("result", "")
	want(t, r, "exit code", r.code, 0, "result", result["result"], "Written.", "num_turns", result["num_turns"], 3.0)
	c.wantFile(t, "out.txt", "hello\n")
	q := c.server.Requests()
	want(t, r, "requests", len(q), 3, "turn", q[2].Turn, 2)
	tool := q[2].Messages[len(q[2].Messages)-1]
	want(t, r, "role", tool.Role, "tool", "tool result", tool.Text, "Exit code 3\nhello")
}

// TestClaudeDenied: a tool that was not allowed is no error for claude.
func TestClaudeDenied(t *testing.T) {
	c := start(t, "claude")
	r := c.run(t, modeltest.Play(modeltest.WriteFile(filepath.Join(c.dir, "out.txt"), "x"), modeltest.Say("Written.")),
		"-p", "--output-format", "stream-json", "--verbose")
	result := r.lastLine("result", "")
	denials, _ := result["permission_denials"].([]any)
	want(t, r, "exit code", r.code, 0, "is_error", result["is_error"], false, "denials", len(denials), 1,
		"event", r.lastLine("system", "permission_denied")["tool_name"], "Write")
	c.wantFile(t, "out.txt", "")
}

func TestClaudeStructured(t *testing.T) {
	for _, tt := range []struct {
		name    string
		steps   []modeltest.Step
		subtype string
		status  any
		code    int
	}{
		{"good", []modeltest.Step{modeltest.Structured(object{"status": "ok", "message": "m"})}, "success", "ok", 0},
		{"mended", []modeltest.Step{modeltest.Structured(object{"status": "fine"}),
			modeltest.Structured(object{"status": "blocked", "message": "m"})}, "success", "blocked", 0},
		{"never good", []modeltest.Step{modeltest.Structured(object{"status": "fine"})}, "error_max_structured_output_retries", nil, 1},
		{"text only", []modeltest.Step{modeltest.Say("ok")}, "success", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, "claude")
			r := c.run(t, modeltest.Play(tt.steps...), claudeArgs("--json-schema", statusSchema)...)
			result := r.lastLine("result", "")
			want(t, r, "exit code", r.code, tt.code, "subtype", result["subtype"], tt.subtype,
				"status", lookUp(result, "structured_output", "status"), tt.status, "asked for a schema", c.server.Requests()[0].Schema, true)
		})
	}
}

// TestClaudeSchemaDialect: claude refuses a schema that names the dialect of 2020-12, before its
// first event.
func TestClaudeSchemaDialect(t *testing.T) {
	c := start(t, "claude")
	r := c.run(t, modeltest.Play(modeltest.Say("x")),
		claudeArgs("--json-schema", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`)...)
	want(t, r, "exit code", r.code, 1, "lines", len(r.lines), 0, "stderr", strings.Contains(r.stderr, "not a valid JSON Schema"), true)
}

func TestClaudeManager(t *testing.T) {
	c := start(t, "claude")
	prompt := modeltest.Play(modeltest.Walk()).String() +
		"\n```json\n{\"kanban_file\":\"k.yaml\",\"done_task\":\"a.md\",\"tasks\":[\"a.md\",\"b.md\"]}\n```\n"
	r := c.begin(t, prompt, claudeArgs("--json-schema", `{"type":"object","required":["status","next_task","tasks"]}`)...)(0)
	want(t, r, "next_task", lookUp(r.lastLine("result", ""), "structured_output", "next_task"), "b.md")
}

// TestClaudeFaults: claude calls a failure "success"; is_error tells.
func TestClaudeFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fault  modeltest.Step
		status any
		kind   any
		text   string
	}{
		{"401", modeltest.Status(401), 401.0, "authentication_error", "Invalid API key"},
		{"429", modeltest.Status(429, "retry-after", "1"), 429.0, "rate_limit_error", "Request rejected (429)"},
		{"500", modeltest.Status(500), 500.0, "api_error", "500 Internal server error"},
		{"529", modeltest.Status(529), 529.0, "overloaded_error", "529 Overloaded"},
		{"cut", modeltest.Cut(), nil, nil, "Connection to the API was lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, "claude")
			r := c.run(t, modeltest.Play(tt.fault, modeltest.Say("x")), claudeArgs()...)
			result := r.lastLine("result", "")
			text, _ := result["result"].(string)
			want(t, r, "exit code", r.code, 1, "subtype", result["subtype"], "success", "is_error", result["is_error"], true,
				"terminal_reason", result["terminal_reason"], "api_error", "api_error_status", result["api_error_status"], tt.status,
				"api_error_type", result["api_error_type"], tt.kind, "retries", r.count("system", "api_retry"), 1,
				"text", strings.Contains(text, tt.text), true)
		})
	}
}

// TestClaudeLimited: a spent allowance is not waited for. The time of its renewal comes with a
// login, not with a key.
func TestClaudeLimited(t *testing.T) {
	reset := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, tt := range []struct {
		name     string
		env      func([]string) []string
		kind     any
		resetsAt any
		text     string
	}{
		{"key", slices.Clone[[]string], nil, nil, "Request rejected (429)"},
		{"login", modeltest.Subscribed, "usage_limit_reached", float64(reset.Unix()), "You've hit your 5-hour limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, "claude")
			c.env = tt.env(c.env)
			r := c.run(t, modeltest.Play(modeltest.Limited(reset, time.Hour), modeltest.Say("x")), claudeArgs()...)
			result := r.lastLine("result", "")
			text, _ := result["result"].(string)
			want(t, r, "exit code", r.code, 1, "is_error", result["is_error"], true, "api_error", result["api_error"], tt.kind,
				"resetsAt", lookUp(r.lastLine("rate_limit_event", ""), "rate_limit_info", "resetsAt"), tt.resetsAt,
				"text", strings.Contains(text, tt.text), true, "requests", len(c.server.Requests()), 1)
		})
	}
}

func TestClaudeFaultThatPasses(t *testing.T) {
	c := start(t, "claude")
	r := c.run(t, modeltest.Play(modeltest.Status(529).Times(1), modeltest.Shell("true"), modeltest.Cut().Times(1), modeltest.Say("Fine.")),
		claudeArgs()...)
	want(t, r, "exit code", r.code, 0, "result", r.lastLine("result", "")["result"], "Fine.", "retries", r.count("system", "api_retry"), 2)
}

// TestClaudeSilence: a silent model is waited for, and a signal ends claude at once. After SIGINT
// the exit code is 0, with an error result, or with none where the model had sent nothing.
func TestClaudeSilence(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault modeltest.Step
		sig   syscall.Signal
		code  int
	}{
		{"hang", modeltest.Hang(), syscall.SIGTERM, 143},
		{"stall", modeltest.Stall(), syscall.SIGTERM, 143},
		{"interrupted hang", modeltest.Hang(), syscall.SIGINT, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, "claude")
			end := c.begin(t, modeltest.Play(tt.fault).String(), claudeArgs()...)
			c.server.Await(t, 1)
			r := end(tt.sig)
			want(t, r, "exit code", r.code, tt.code, "results", r.count("result", "success"), 0)
		})
	}
}

// TestClaudeSessions: --resume continues a session, --fork-session copies it, and an ID is taken
// once. Cost adds up over the session, and a copy begins with the original's.
func TestClaudeSessions(t *testing.T) {
	c := start(t, "claude")
	const id, copied = "11111111-2222-4333-8444-555555555555", "11111111-2222-4333-8444-666666666666"
	first := c.run(t, modeltest.Play(modeltest.Say("one")), claudeArgs("--session-id", id)...)
	cost, _ := first.lastLine("result", "")["total_cost_usd"].(float64)
	again := c.run(t, modeltest.Play(modeltest.Say("x")), claudeArgs("--session-id", id)...)
	want(t, again, "exit code with a used id", again.code, 1, "stderr", strings.Contains(again.stderr, "is already in use"), true)
	resumed := c.run(t, modeltest.Play(modeltest.Say("two")), claudeArgs("--resume", id)...)
	q := c.server.Requests()
	result := resumed.lastLine("result", "")
	want(t, resumed, "session", result["session_id"], id, "result", result["result"], "two", "cost", result["total_cost_usd"], 2*cost,
		"usage", lookUp(result, "usage", "input_tokens"), 1000.0, "remembers", len(q[len(q)-1].Messages) > len(q[0].Messages), true)
	forked := c.run(t, modeltest.Play(modeltest.Say("three")), claudeArgs("--resume", id, "--fork-session", "--session-id", copied)...)
	result = forked.lastLine("result", "")
	want(t, forked, "session", result["session_id"], copied, "cost", result["total_cost_usd"], 3*cost)
	unknown := c.run(t, modeltest.Play(modeltest.Say("x")), claudeArgs("--resume", "99999999-2222-4333-8444-555555555555")...)
	result = unknown.lastLine("result", "")
	want(t, unknown, "exit code of an unknown id", unknown.code, 1, "subtype", result["subtype"], "error_during_execution")
}

// TestClaudeGoesOn: a run killed in the middle of a tool resumes with the next step, without a
// script of its own.
func TestClaudeGoesOn(t *testing.T) {
	c := start(t, "claude")
	const id = "11111111-2222-4333-8444-777777777777"
	script := modeltest.Play(modeltest.Shell("touch began; exec sleep 60"), modeltest.Say("Slept."))
	end := c.begin(t, script.String(), claudeArgs("--session-id", id)...)
	waitFor(t, filepath.Join(c.dir, "began"))
	if r := end(syscall.SIGTERM); r.code != 143 {
		t.Errorf("exit code = %d, want 143", r.code)
	}
	r := c.begin(t, "Go on.", claudeArgs("--resume", id)...)(0)
	want(t, r, "exit code", r.code, 0, "result", r.lastLine("result", "")["result"], "Slept.")
}
