package claude_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/agent/modeltest"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/redact"
)

// real is the real claude with a scripted model.
type real struct {
	server     *modeltest.Server
	assignment agent.Assignment
	mu         sync.Mutex
	events     []agent.Event
	stdout     bytes.Buffer
}

// never is longer than any run that does not hang.
const never = 3 * time.Minute

const task = `{"task_file":"tasks/a.md","kanban_file":"kanban.yaml"}`

func start(t *testing.T) *real {
	t.Helper()
	path := modeltest.Find(t, "claude")
	t.Parallel()
	s := modeltest.Start(t)
	r := &real{server: s, assignment: agent.Assignment{Role: "Implementor", Contract: contract.Task, Input: []byte(task), Command: []string{path},
		Dir: filepath.Join(t.TempDir(), "work"), Scratch: t.TempDir(), Env: s.Env(t, "claude"), Timeout: never, Grace: 5 * time.Second}}
	if err := os.Mkdir(r.assignment.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// play puts the model's script into the role's prompt.
func (r *real) play(steps ...modeltest.Step) { r.assignment.Prompt = modeltest.Play(steps...).String() }

func (r *real) note(e agent.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *real) said(kind agent.Kind) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, e := range r.events {
		if e.Kind == kind {
			all = append(all, e.String())
		}
	}
	return strings.Join(all, "\n")
}

func (r *real) run(t *testing.T) (*attempt.Ended, error) {
	t.Helper()
	return r.runUntil(t, t.Context())
}

func (r *real) runUntil(t *testing.T, stop context.Context) (*attempt.Ended, error) {
	t.Helper()
	if err := claude.New().Check(r.assignment); err != nil {
		t.Fatalf("Check = %v", err)
	}
	inv, err := claude.New().Invoke(r.assignment)
	if err != nil {
		t.Fatalf("Invoke = %v", err)
	}
	return attempt.Run(stop, t.Context(), attempt.Spec{Adapter: claude.New(), Invocation: inv, Contract: r.assignment.Contract, Sinks: attempt.Sinks{Stdout: &r.stdout, Redactor: redact.New(nil)}, Emit: r.note})
}

// last returns the model's last request.
func (r *real) last(t *testing.T) modeltest.Request {
	t.Helper()
	all := r.server.Requests()
	if len(all) == 0 {
		t.Fatal("the model was asked nothing")
	}
	return all[len(all)-1]
}

func (r *real) path(name string) string { return filepath.Join(r.assignment.Dir, name) }

func structured(status, message string) modeltest.Step {
	return modeltest.Structured(map[string]string{"status": status, "message": message})
}

func wantReply(t *testing.T, out *attempt.Ended, err error, status contract.Status, message string) {
	t.Helper()
	if err != nil || out.Reply == nil {
		t.Fatalf("Converse = %+v, %v, %v, want a reply", out, out.Failure, err)
	}
	if out.Reply.Status != status || out.Reply.Message != message {
		t.Errorf("Reply = %+v, want %s, %q", out.Reply, status, message)
	}
}

func wantFailure(t *testing.T, out *attempt.Ended, err error, reasons ...string) {
	t.Helper()
	if err != nil || out.Failure == nil || out.Reply != nil || out.IsStopped() {
		t.Fatalf("Converse = %+v, %v, want a failure", out, err)
	}
	for _, reason := range reasons {
		if !strings.Contains(out.Failure.Reason, reason) {
			t.Errorf("Reason = %q, want %q in it", out.Failure.Reason, reason)
		}
	}
}

// TestRealOptions: claude is the tested version, and its help has the options that Tool names.
func TestRealOptions(t *testing.T) {
	r, tool := start(t), claude.New().Tool()
	said := func(args ...string) string {
		text, err := tool.Query(t.Context(), r.assignment, args...)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	help := said(tool.Help...)
	for _, option := range tool.Options {
		if !regexp.MustCompile(regexp.QuoteMeta(option) + `[ ,\n]`).MatchString(help) {
			t.Errorf("the help has no %s", option)
		}
	}
	if version := said("--version"); !strings.HasPrefix(version, tool.Tested+" ") {
		t.Errorf("--version = %s, want %s", version, tool.Tested)
	}
}

func TestRealReply(t *testing.T) {
	r := start(t)
	r.play(modeltest.WriteFile(r.path("out.txt"), "hello\n"), structured("blocked", "said ✓"))
	out, err := r.run(t)
	wantReply(t, out, err, contract.Blocked, "said ✓")
	if data, err := os.ReadFile(r.path("out.txt")); err != nil || string(data) != "hello\n" {
		t.Errorf("out.txt = %q, %v, want what the tool wrote", data, err)
	}
	if s := out.Spent; s == nil || s.Input != 2000 || s.Output != 100 || s.Cost == nil || *s.Cost <= 0 || out.Cumulative {
		t.Errorf("Spent = %+v, want two answers' tokens and a price, of this attempt only", out.Spent)
	}
	if got := r.said(agent.ToolStarted); !strings.Contains(got, "Write: "+r.path("out.txt")) {
		t.Errorf("tools = %q, want the file that was written", got)
	}
	if out.Session == "" || r.said(agent.Session) == "" || r.said(agent.Warning) != "" {
		t.Errorf("Session = %q, warnings = %q", out.Session, r.said(agent.Warning))
	}
	if !strings.Contains(r.stdout.String(), `"type":"result"`) {
		t.Errorf("the sink of stdout got %.200q, want the whole stream", r.stdout.String())
	}
}

// TestRealManager: claude takes the schema with a list and a nullable path.
func TestRealManager(t *testing.T) {
	r := start(t)
	r.assignment.Contract = contract.Manager
	r.assignment.Input = []byte(`{"kanban_file":"kanban.yaml","done_task":"tasks/a.md","tasks":["tasks/a.md","tasks/b.md"]}`)
	r.play(modeltest.Walk())
	out, err := r.run(t)
	wantReply(t, out, err, contract.OK, "Next is tasks/b.md.")
	if out.Reply.NextTask == nil || *out.Reply.NextTask != "tasks/b.md" || len(out.Reply.Tasks) != 2 {
		t.Errorf("Reply = %+v, want tasks/b.md next and both tasks", out.Reply)
	}
}

// TestRealWords: a model that does not call claude's reply tool may reply in text, which is judged
// as strictly.
func TestRealWords(t *testing.T) {
	for _, tt := range []struct{ name, said, reason string }{
		{"an object", `{"status":"ok","message":"m"}`, ""},
		{"a fence", "Done.\n\n```json\n{\"status\":\"ok\",\"message\":\"m\"}\n```\n", ""},
		{"an object in a sentence", `My reply is {"status":"ok","message":"m"}`, ""},
		{"no object", "All done. All tests pass!", "not a JSON object"},
		{"another form", `{"status":"fine","message":"m"}`, `status is "fine"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t)
			r.play(modeltest.Say(tt.said))
			out, err := r.run(t)
			if tt.reason == "" {
				wantReply(t, out, err, contract.OK, "m")
				return
			}
			wantFailure(t, out, err, tt.reason)
			if !strings.Contains(out.Received, tt.said) {
				t.Errorf("Received = %q, want what the model said", out.Received)
			}
		})
	}
}

// TestRealNeverFits: claude asks again a few times, and reports what was wrong.
func TestRealNeverFits(t *testing.T) {
	r := start(t)
	r.play(structured("fine", "m"))
	out, err := r.run(t)
	wantFailure(t, out, err, "did not fit the schema", "/status")
}

// TestRealPermissions: each permission allows what it says, and a denied tool ends the attempt
// although claude calls it a success.
func TestRealPermissions(t *testing.T) {
	const outside = "../outside.txt"
	read := modeltest.Tool("Read", map[string]string{"file_path": "a.txt"})
	write := modeltest.WriteFile("b.txt", "x")
	for _, tt := range []struct {
		name       string
		permission agent.Permission
		tools      []string
		step       modeltest.Step
		denied     string // what the reason names; "": nothing is denied
	}{
		{"full, outside", agent.Full, nil, modeltest.WriteFile(outside, "x"), ""},
		{"full, a command", "", nil, modeltest.Shell("touch c.txt"), ""},
		{"full, a listed tool", "", []string{"Bash"}, modeltest.Shell("touch c.txt"), ""},
		{"full, what a rule allows", "", []string{"Read", "Bash(touch:*)"}, modeltest.Shell("touch c.txt"), ""},
		{"full, what no rule allows", "", []string{"Read", "Bash(git log:*)"}, modeltest.Shell("touch c.txt"), "Bash (touch c.txt)"},
		{"edit, a file", agent.Edit, nil, write, ""},
		{"edit, outside", agent.Edit, nil, modeltest.WriteFile(outside, "x"), "Write ("},
		{"edit, a program", agent.Edit, nil, modeltest.Shell("make"), "Bash (make)"},
		{"edit, a listed tool", agent.Edit, []string{"Write", "Bash"}, modeltest.Shell("make"), "Bash (make)"},
		{"edit, what a rule allows", agent.Edit, []string{"Bash(sh:*)"}, modeltest.Shell("sh -c 'exit 0'"), ""},
		{"read-only, reading", agent.ReadOnly, nil, read, ""},
		{"read-only, a command that reads", agent.ReadOnly, nil, modeltest.Shell("cat a.txt | wc -l"), ""},
		{"read-only, writing", agent.ReadOnly, nil, write, "Write ("},
		{"read-only, writing with a listed tool", agent.ReadOnly, []string{"Write"}, write, "Write ("},
		{"read-only, a command that writes", agent.ReadOnly, nil, modeltest.Shell("touch c.txt"), "Bash (touch c.txt)"},
		{"read-only, a rule that would write", agent.ReadOnly, []string{"Bash(touch:*)"}, modeltest.Shell("touch c.txt"), "Bash (touch c.txt)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t)
			if err := os.WriteFile(r.path("a.txt"), []byte("a\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			r.assignment.Permission, r.assignment.Tools = tt.permission, tt.tools
			r.play(tt.step, structured("ok", "m"))
			out, err := r.run(t)
			if tt.denied == "" {
				wantReply(t, out, err, contract.OK, "m")
				return
			}
			var denied *agent.ConfigError
			if !errors.As(err, &denied) || !strings.Contains(denied.Text, "permission denied: "+tt.denied) || !strings.Contains(denied.Fix, "permission: ") {
				t.Errorf("Converse = %+v, %v, want the denial of %s", out, err, tt.denied)
			}
			files, err := filepath.Glob(r.path("*"))
			if above, _ := filepath.Glob(r.path("../outside.txt")); err != nil || len(files) != 1 || len(above) > 0 {
				t.Errorf("there are %q and %q, %v, want a.txt only", files, above, err)
			}
		})
	}
}

// TestRealTools: --tools hides all other tools from the model.
func TestRealTools(t *testing.T) {
	for _, tt := range []struct{ tools, want []string }{
		{[]string{}, []string{"StructuredOutput"}},
		{[]string{"Read", "Bash(git log:*)", "Bash(git diff:*)"}, []string{"Bash", "Read", "StructuredOutput"}},
	} {
		t.Run(strings.Join(tt.tools, " "), func(t *testing.T) {
			r := start(t)
			r.assignment.Tools = tt.tools
			r.play(structured("ok", "m"))
			out, err := r.run(t)
			wantReply(t, out, err, contract.OK, "m")
			got := slices.DeleteFunc(slices.Sorted(slices.Values(r.last(t).Tools)), func(name string) bool { return name == "DeferredToolPlaceholder" })
			if !slices.Equal(got, tt.want) {
				t.Errorf("tools = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRealArrives: the role's prompt reaches the model, a long one through a file.
func TestRealArrives(t *testing.T) {
	for name, length := range map[string]int{"short": 0, "long": 200 << 10} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			r.assignment.Model = "claude-sonnet-4-5"
			r.play(structured("ok", "m"))
			r.assignment.Prompt += "\n\n- You are the Implementor. " + strings.Repeat("x", length)
			out, err := r.run(t)
			wantReply(t, out, err, contract.OK, "m")
			q := r.last(t)
			if q.Model != "claude-sonnet-4-5" || !strings.Contains(q.System, r.assignment.Prompt) || !q.Schema {
				t.Errorf("model %q, prompt of %d bytes, schema %t, want what the role says", q.Model, len(q.System), q.Schema)
			}
			if asked := q.Messages[len(q.Messages)-1].Text; !strings.Contains(asked, task) {
				t.Errorf("the model was asked %q, want the input in it", asked)
			}
			if unknown := r.server.Unknown(); len(unknown) > 0 {
				t.Errorf("claude asked of endpoints that the model lacks: %q", unknown)
			}
		})
	}
}

func TestRealLimits(t *testing.T) {
	steps := []modeltest.Step{modeltest.Shell("ls"), modeltest.Shell("pwd"), modeltest.Shell("ls"), structured("ok", "m")}
	for _, tt := range []struct {
		name   string
		turns  int
		cost   int64
		reason string
	}{
		{"turns", 2, 0, "it reached max_turns: Reached maximum number of turns (2)"},
		{"cost", 0, 6000, "it reached max_cost: Reached maximum budget ($0.006)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t)
			r.assignment.MaxTurns, r.assignment.MaxCost = tt.turns, tt.cost
			r.play(steps...)
			out, err := r.run(t)
			// The same attempt would reach it again.
			if limit, ok := errors.AsType[*agent.LimitError](err); !ok || !strings.Contains(limit.Text, tt.reason) {
				t.Fatalf("Converse = %+v, %v, want %s", out, err, tt.reason)
			}
			if s := out.Spent; s == nil || s.Input != 2000 || s.Cost == nil || *s.Cost != 10000 {
				t.Errorf("Spent = %+v, want what two answers came to", s)
			}
		})
	}
}

// TestRealMCP: claude gets the servers of the role's file and no others; a list of tools covers
// theirs, too.
func TestRealMCP(t *testing.T) {
	r := start(t)
	r.assignment.MCP = filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(r.assignment.MCP, []byte(`{"mcpServers":{"lab":{"command":"`+r.path("no-such-server")+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.play(structured("ok", "m"))
	out, err := r.run(t)
	wantReply(t, out, err, contract.OK, "m")
	if got := r.said(agent.Warning); got != "warning: MCP server lab: failed" {
		t.Errorf("warnings = %q, want the server that could not be started", got)
	}
}

// TestRealIdentical: the model gets the same in each attempt: seed 004, "Retry Rule (CRITICAL)".
func TestRealIdentical(t *testing.T) {
	r := start(t)
	r.play(structured("fine", "never fits"))
	r.assignment.Prompt += strings.Repeat(" long", 10_000)
	var digests []string
	for range 2 {
		inv, err := claude.New().Invoke(r.assignment)
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, inv.Digest())
		out, err := r.run(t)
		wantFailure(t, out, err, "did not fit")
	}
	if digests[0] != digests[1] {
		t.Errorf("Digest() = %s, and then %s", digests[0], digests[1])
	}
}
