package codex_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/agent/modeltest"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
)

// TestRealReply: the first reply fits, the work is done, and the role's prompt reached the model.
func TestRealReply(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	c.Assignment.Model, c.Assignment.Args = "gpt-5.5", []string{"-c", "model_reasoning_effort=low"}
	h := c.Play(t, modeltest.WriteFile("out.txt", "hello\n"), streamtest.GoodReply("written"))
	h.WantReply(t, "written")
	c.WantFile(t, "out.txt", "hello\n")
	if !h.HasEvent(agent.ToolStarted, "out.txt") || !h.HasEvent(agent.ToolEnded, "command") || !h.HasEvent(agent.Result, "completed") || h.Session == "" {
		t.Errorf("events %v, session %q, want a command, a result and a session", h.Events, h.Session)
	}
	if s := h.Spent; s == nil || s.Input != 2000 || s.Output != 100 || s.Cost != nil || !h.Cumulative {
		t.Errorf("Spent = %+v, want what two turns come to, without a price", s)
	}
	q := c.Server.Requests()[0]
	if q.Model != "gpt-5.5" || !q.Schema || !strings.Contains(q.System, "You are the Implementor.") || !strings.Contains(string(q.Body), `"effort":"low"`) {
		t.Errorf("model %s, schema %t, system %.100s: the options did not arrive", q.Model, q.Schema, q.System)
	}
	wantStrict(t, q.Body)
}

// wantStrict holds the schema that codex passes on to the rules of OpenAI's strict mode.
func wantStrict(t *testing.T, body []byte) {
	t.Helper()
	var q struct {
		Text struct {
			Format struct {
				Strict bool
				Schema struct {
					Required   []string
					Additional *bool `json:"additionalProperties"`
					Properties map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	s := q.Text.Format.Schema
	if !q.Text.Format.Strict || s.Additional == nil || *s.Additional || !slices.Equal(s.Required, slices.Sorted(maps.Keys(s.Properties))) || len(s.Required) != 2 {
		t.Errorf("format = %+v, want it to be strict", q.Text.Format)
	}
}

// TestRealManager: the Manager's list comes back unchanged.
func TestRealManager(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	c.Assignment.Contract = contract.Manager
	h := c.Play(t, modeltest.Structured(map[string]any{"status": "ok", "message": "m", "next_task": nil, "tasks": []string{"a", "b"}}))
	h.WantReply(t, "m")
	if h.Reply.NextTask != nil || !slices.Equal(h.Reply.Tasks, []string{"a", "b"}) {
		t.Errorf("Reply = %+v, want two tasks and no next", h.Reply)
	}
}

// TestRealText: codex validates nothing, so a plain text is refused here; an object in a fence is
// not.
func TestRealText(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	h := c.Play(t, modeltest.Say("All done."))
	h.WantFailure(t, "not a JSON object")
	if h.Received != "All done." {
		t.Errorf("Received = %q", h.Received)
	}
	c.Play(t, modeltest.Say("Here:\n\n```json\n{\"status\":\"ok\",\"message\":\"fenced\"}\n```")).WantReply(t, "fenced")
}

// TestRealDenied: only the model learns what the sandbox refuses; its reply has to say so.
func TestRealDenied(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	c.Assignment.Permission = agent.ReadOnly
	c.Play(t, modeltest.Shell("touch out.txt"), streamtest.GoodReply("tried")).WantReply(t, "tried")
	q := c.Server.Requests()
	if heard := q[len(q)-1].Messages; !strings.Contains(heard[len(heard)-1].Text, "Read-only file system") {
		t.Errorf("the model heard %q", heard[len(heard)-1].Text)
	}
	c.Assignment.Permission = agent.Full
	c.Play(t, modeltest.Shell("touch "+t.TempDir()+"/out.txt && echo made"), streamtest.GoodReply("made")).WantReply(t, "made")
	q = c.Server.Requests()
	if heard := q[len(q)-1].Messages; !strings.Contains(heard[len(heard)-1].Text, "made") {
		t.Errorf("with full permission the model heard %q", heard[len(heard)-1].Text)
	}
}

// TestRealKey: a bad or missing key ends the attempt without a retry.
func TestRealKey(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	c.Assignment.Args = []string{"-c", "model_providers.fake.stream_max_retries=5"}
	h := c.Play(t, modeltest.Status(401))
	streamtest.WantErr[*agent.ConfigError](t, h, "401 Unauthorized: Incorrect API key provided")
	if n := len(c.Server.Requests()); n > 3 {
		t.Errorf("%d requests were made with a bad key, want it to be given up at once", n)
	}
	c.Assignment.Env = slices.DeleteFunc(slices.Clone(c.Assignment.Env), func(e string) bool { return strings.HasPrefix(e, "FAKE_API_KEY=") })
	h = c.Play(t, modeltest.Say("x"))
	err := streamtest.WantErr[*agent.ConfigError](t, h, "Missing environment variable: `FAKE_API_KEY`")
	if !strings.Contains(err.Hint(), "env.pass") {
		t.Errorf("hint %q, want env.pass in it", err.Hint())
	}
}

// TestRealUnpaid: an account without money ends it, too.
func TestRealUnpaid(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	h := c.Play(t, modeltest.Status(402))
	err := streamtest.WantErr[*agent.ConfigError](t, h, "402 Payment Required")
	if !strings.Contains(err.Hint(), "billing page") {
		t.Errorf("hint %q, want the billing page in it", err.Hint())
	}
}

func TestRealUnknownModel(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	h := c.Play(t, modeltest.Status(404))
	streamtest.WantErr[*agent.ConfigError](t, h, "The model does not exist")
}

// TestRealLimit: the end of a limit is a local time, with a date unless it is today.
func TestRealLimit(t *testing.T) {
	for name, wait := range map[string]time.Duration{"today, or tomorrow": time.Hour, "in days": 75 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			c := streamtest.Start(t, "codex", codex.New())
			reset := time.Now().Add(wait).Truncate(time.Second)
			h := c.Play(t, modeltest.Limited(reset, 0))
			err := streamtest.WantErr[*agent.LaterError](t, h, "hit your usage limit")
			if !err.Reset.Equal(reset.Truncate(time.Minute)) {
				t.Errorf("Reset = %v, want the minute of %v", err.Reset, reset)
			}
		})
	}
}

// TestRealWaits: codex would wait for an hour in silence.
func TestRealWaits(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.Impatient(time.Second))
	h := c.Play(t, modeltest.Status(429, "retry-after", "3600"))
	streamtest.WantErr[*agent.LaterError](t, h, "429 Too Many Requests")
}

func TestRealServerErrors(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	streamtest.WantErr[*agent.LaterError](t, c.Play(t, modeltest.Status(500)), "codex: We’re currently experiencing high demand")
	streamtest.WantErr[*agent.LaterError](t, c.Play(t, modeltest.Cut()), "stream disconnected")
	h := c.Play(t, modeltest.Status(529).Times(1), streamtest.GoodReply("it passed"))
	h.WantReply(t, "it passed")
	if !h.HasEvent(agent.Retry, "529") {
		t.Errorf("events %v, want a retry", h.Events)
	}
}

func TestRealHang(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	c.Assignment.Timeout = 3 * time.Second
	c.Play(t, modeltest.Hang()).WantFailure(t, "timed out after 3s")
}

// TestRealStopped: an agent stopped in the middle of a command leaves no process, and its thread
// goes on later.
func TestRealStopped(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	h := c.PlayUntil(t, "began", modeltest.Shell("touch began; sleep 7153.25"), streamtest.GoodReply("slept"))
	if !h.IsStopped() || h.Session == "" {
		t.Fatalf("Outcome = %+v, want it to be stopped, with its session", h.Ended)
	}
	streamtest.WantNoProcess(t, "7153.25")
	c.Assignment.Follow = &agent.Follow{Session: h.Session}
	c.Play(t, streamtest.GoodReply("went on")).WantReply(t, "went on")
}

// TestRealThreads: a fork reviews a thread, and the thread goes on with the review. Each is charged
// its own cost. Seed 003, "Supervisor Feedback".
func TestRealThreads(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	accounts := attempt.Accounts{}
	first := c.Play(t, streamtest.GoodReply("worked"))
	first.WantReply(t, "worked")
	wantCharge(t, accounts.Charge(first.Ended, ""), 1000)
	c.Assignment.Contract, c.Assignment.Prompt, c.Assignment.Follow = contract.Review, "You are the Supervisor.", &agent.Follow{Session: first.Session, Fork: true}
	review := c.Play(t, modeltest.Shell("true"), modeltest.Say("Mend it."))
	review.WantReply(t, "Mend it.")
	if review.Session == first.Session || review.Session == "" {
		t.Errorf("the review's session is %q, want another than %q", review.Session, first.Session)
	}
	wantCharge(t, accounts.Charge(review.Ended, first.Session), 2000)
	q := c.Server.Requests()
	asked := q[1].Messages[len(q[1].Messages)-1].Text
	if q[1].Schema || !strings.HasPrefix(asked, "You are the Supervisor.") || len(q[1].Messages) <= len(q[0].Messages) {
		t.Errorf("the review was asked with %q, a schema: %t, want its role, the thread's history and no schema", asked, q[1].Schema)
	}
	c.Assignment.Contract, c.Assignment.Prompt, c.Assignment.Follow = contract.Instruction, "You are the Implementor.", &agent.Follow{Session: first.Session}
	again := c.Play(t, streamtest.GoodReply("mended"))
	again.WantReply(t, "mended")
	if again.Session != first.Session {
		t.Errorf("session %q, want %q", again.Session, first.Session)
	}
	wantCharge(t, accounts.Charge(again.Ended, first.Session), 1000)
	if last := c.Server.Requests()[3]; !last.Schema {
		t.Error("the thread went on without a schema")
	}
}

func wantCharge(t *testing.T, got *agent.Spending, input int64) {
	t.Helper()
	if got == nil || got.Input != input {
		t.Errorf("charged %+v, want %d tokens of input", got, input)
	}
}

// TestRealUnknownThread: codex reports it on standard error alone.
func TestRealUnknownThread(t *testing.T) {
	c := streamtest.Start(t, "codex", codex.New())
	c.Assignment.Follow = &agent.Follow{Session: "01a1ff62-0000-75b0-a9e9-0d2583832624"}
	h := c.Play(t, modeltest.Say("x"))
	h.WantFailure(t, "exit status 1")
	if !strings.Contains(h.Stderr, "no rollout found") || !h.Failure.Lost {
		t.Errorf("Stderr = %q, lost %t, want a lost thread", h.Stderr, h.Failure.Lost)
	}
}
