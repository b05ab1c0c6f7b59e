package gemini_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/gemini"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/agent/modeltest"
)

func start(t *testing.T) *streamtest.Real {
	t.Helper()
	g := streamtest.Start(t, "gemini", gemini.New())
	g.Assignment.Model = "gemini-2.5-flash"
	return g
}

// TestRealReply: the first reply fits, the work is done, and the role's prompt reached the model.
func TestRealReply(t *testing.T) {
	g := start(t)
	h := g.Play(t, modeltest.WriteFile("out.txt", "hello\n"), modeltest.Shell("cp out.txt b.txt"), streamtest.GoodReply("written"))
	h.WantReply(t, "written")
	g.WantFile(t, "out.txt", "hello\n")
	g.WantFile(t, "b.txt", "hello\n")
	if !h.HasEvent(agent.ToolStarted, "write_file") || !h.HasEvent(agent.ToolEnded, "run_shell_command") || !h.HasEvent(agent.Result, "success") || h.Session == "" {
		t.Errorf("events %v, session %q, want tools, a result and a session", h.Events, h.Session)
	}
	if s := h.Spent; s == nil || s.Input != 3000 || s.Output != 150 || s.Cost != nil || h.Cumulative {
		t.Errorf("Spent = %+v, want what three turns come to, without a price", s)
	}
	q := g.Server.Requests()[0]
	if q.Model != "gemini-2.5-flash" || !slices.ContainsFunc(q.Messages, func(m modeltest.Message) bool { return strings.HasPrefix(m.Text, "You are the Implementor.") }) {
		t.Errorf("model %s, messages %.300q: the role did not arrive", q.Model, q.Messages)
	}
}

func TestRealText(t *testing.T) {
	g := start(t)
	g.Play(t, modeltest.Say("All done.")).WantFailure(t, "not a JSON object")
	g.Play(t, modeltest.Say("```json\n{\"status\":\"ok\",\"message\":\"fenced\"}\n```")).WantReply(t, "fenced")
}

// TestRealDenied: a refused tool is reported; a shell without permission does not exist.
func TestRealDenied(t *testing.T) {
	g := start(t)
	g.Assignment.Permission = agent.ReadOnly
	streamtest.WantErr[*agent.ConfigError](t, g.Play(t, modeltest.WriteFile("out.txt", "x"), streamtest.GoodReply("tried")), "permission denied: write_file")
	if tools := g.Server.Requests()[0].Tools; slices.Contains(tools, "run_shell_command") || !slices.Contains(tools, "read_file") {
		t.Errorf("tools = %q, want one that reads and no shell", tools)
	}
	g.Assignment.Permission = agent.Edit
	g.Play(t, modeltest.WriteFile("out.txt", "x"), streamtest.GoodReply("wrote")).WantReply(t, "wrote")
	g.WantFile(t, "out.txt", "x")
}

func TestRealKey(t *testing.T) {
	g := start(t)
	h := g.Play(t, modeltest.Status(401))
	streamtest.WantErr[*agent.ConfigError](t, h, "401 API key not valid")
	g.Assignment.Env = slices.DeleteFunc(slices.Clone(g.Assignment.Env), func(e string) bool { return strings.HasPrefix(e, "GEMINI_API_KEY=") })
	h = g.Play(t, modeltest.Say("x"))
	err := streamtest.WantErr[*agent.ConfigError](t, h, "not logged in")
	if !strings.Contains(err.Hint(), "GEMINI_API_KEY") {
		t.Errorf("hint %q, want GEMINI_API_KEY in it", err.Hint())
	}
}

// TestRealCut: gemini exits with 0 after a cut stream.
func TestRealCut(t *testing.T) {
	start(t).Play(t, modeltest.Cut()).WantFailure(t, "terminated")
}

func TestRealHang(t *testing.T) {
	g := start(t)
	g.Assignment.Timeout = 8 * time.Second
	g.Play(t, modeltest.Hang()).WantFailure(t, "timed out after 8s")
}

// TestRealStopped: gemini leaves its tools running at its end.
func TestRealStopped(t *testing.T) {
	h := start(t).PlayUntil(t, "began", modeltest.Shell("touch began; sleep 7154.25"), streamtest.GoodReply("slept"))
	if !h.IsStopped() || h.Session == "" {
		t.Fatalf("Outcome = %+v, want it to be stopped, with its session", h.Ended)
	}
	streamtest.WantNoProcess(t, "7154.25")
}
