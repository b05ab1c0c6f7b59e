package acp_test

import (
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/agent/modeltest"
)

func start(t *testing.T) *streamtest.Real {
	t.Helper()
	g := streamtest.Start(t, "gemini", acp.New(self(t)))
	g.Assignment.Command = append(g.Assignment.Command, "--acp")
	g.Assignment.Args = []string{"-m", "gemini-2.5-flash"}
	return g
}

// TestRealReply: gemini asks for permission, does the work, and its first reply fits.
func TestRealReply(t *testing.T) {
	g := start(t)
	h := g.Play(t, modeltest.WriteFile("out.txt", "hello\n"), modeltest.Shell("cp out.txt b.txt"), streamtest.GoodReply("written"))
	h.WantReply(t, "written")
	g.WantFile(t, "out.txt", "hello\n")
	g.WantFile(t, "b.txt", "hello\n")
	if !h.HasEvent(agent.ToolStarted, "edit") || !h.HasEvent(agent.ToolEnded, "execute") || h.Session == "" || h.Spent == nil || h.Spent.Input != 3000 {
		t.Errorf("events %v, session %q, spent %+v, want tools, a session and the tokens of three turns", h.Events, h.Session, h.Spent)
	}
	if q := g.Server.Requests()[0]; !slices.ContainsFunc(q.Messages, func(m modeltest.Message) bool { return strings.Contains(m.Text, "You are the Implementor.") }) {
		t.Error("the role did not arrive")
	}
}

func TestRealText(t *testing.T) {
	start(t).Play(t, modeltest.Say("All done.")).WantFailure(t, "not a JSON object")
}

func TestRealDenied(t *testing.T) {
	g := start(t)
	g.Assignment.Permission = agent.Edit
	streamtest.WantErr[*agent.ConfigError](t, g.Play(t, modeltest.WriteFile("out.txt", "x"), modeltest.Shell("touch b.txt"), streamtest.GoodReply("tried")), "permission denied: execute")
	g.WantFile(t, "out.txt", "x")
}

func TestRealKey(t *testing.T) {
	streamtest.WantErr[*agent.ConfigError](t, start(t).Play(t, modeltest.Status(401)), "API key not valid")
}

// TestRealStopped: neither gemini nor its tools leave a process.
func TestRealStopped(t *testing.T) {
	g := start(t)
	g.Assignment.Args = append(g.Assignment.Args, "--allowed-mcp-server-names", "none7156.25")
	h := g.PlayUntil(t, "began", modeltest.Shell("touch began; sleep 7156.25"), streamtest.GoodReply("slept"))
	if !h.IsStopped() || h.Session == "" {
		t.Fatalf("Outcome = %+v, want it to be stopped, with its session", h.Ended)
	}
	streamtest.WantNoProcess(t, "7156.25")
}
