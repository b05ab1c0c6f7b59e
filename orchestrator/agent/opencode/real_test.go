package opencode_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/internal/streamtest"
	"kanban-run/orchestrator/agent/modeltest"
	"kanban-run/orchestrator/agent/opencode"
	"kanban-run/orchestrator/contract"
)

func start(t *testing.T) *streamtest.Real {
	t.Helper()
	return streamtest.Start(t, "opencode", opencode.New())
}

// TestRealReply: the first reply fits, the work is done, and the role's prompt reached the model.
func TestRealReply(t *testing.T) {
	o := start(t)
	o.Assignment.Model = "fake/fake-model"
	h := o.Play(t, modeltest.WriteFile("out.txt", "hello\n"),
		streamtest.GoodReply("written").Using(modeltest.Usage{Input: 5000, Cached: 3000, Output: 77}))
	h.WantReply(t, "written")
	o.WantFile(t, "out.txt", "hello\n")
	if !h.HasEvent(agent.ToolEnded, "write") || !h.HasEvent(agent.Result, "stop") || h.Session == "" {
		t.Errorf("events %v, session %q, want a tool, a result and a session", h.Events, h.Session)
	}
	if s := h.Spent; s == nil || s.Input != 6000 || s.Cached != 3000 || s.Output != 127 || s.Cost != nil || h.Cumulative {
		t.Errorf("Spent = %+v, want what two steps come to, without a price", s)
	}
	if q := o.Server.Requests(); !slices.ContainsFunc(q[len(q)-1].Messages, func(m modeltest.Message) bool {
		return strings.HasPrefix(m.Text, "You are the Implementor.")
	}) {
		t.Error("the role did not arrive")
	}
}

func TestRealText(t *testing.T) {
	start(t).Play(t, modeltest.Say("All done.")).WantFailure(t, "not a JSON object")
}

// TestRealDenied: a tool without permission does not exist.
func TestRealDenied(t *testing.T) {
	o := start(t)
	o.Assignment.Permission = agent.ReadOnly
	o.Play(t, streamtest.GoodReply("looked")).WantReply(t, "looked")
	q := o.Server.Requests()
	tools := q[len(q)-1].Tools
	for _, name := range []string{"write", "edit", "bash"} {
		if slices.Contains(tools, name) {
			t.Errorf("tools = %q, want no %s", tools, name)
		}
	}
	o.Assignment.Permission = agent.Edit
	o.Play(t, modeltest.WriteFile("out.txt", "x"), streamtest.GoodReply("wrote")).WantReply(t, "wrote")
	o.WantFile(t, "out.txt", "x")
	if q = o.Server.Requests(); slices.Contains(q[len(q)-1].Tools, "bash") {
		t.Errorf("tools = %q, want no bash", q[len(q)-1].Tools)
	}
}

// TestRealAsked: opencode refuses to leave the work directory, for which it would ask a person.
func TestRealAsked(t *testing.T) {
	o := start(t)
	o.Assignment.Permission = agent.Edit
	streamtest.WantErr[*agent.ConfigError](t, o.Play(t, modeltest.WriteFile(t.TempDir()+"/out.txt", "x"), streamtest.GoodReply("wrote")), "permission denied: write")
}

func TestRealFaults(t *testing.T) {
	o := start(t)
	streamtest.WantErr[*agent.ConfigError](t, o.Play(t, modeltest.Status(401)), "401 Incorrect API key")
	streamtest.WantErr[*agent.ConfigError](t, o.Play(t, modeltest.Status(404)), "404 The model does not exist")
}

func TestRealHang(t *testing.T) {
	o := start(t)
	o.Assignment.Timeout = 12 * time.Second
	o.Play(t, modeltest.Hang()).WantFailure(t, "timed out after 12s")
}

// TestRealStopped: opencode leaves its tools running at any end.
func TestRealStopped(t *testing.T) {
	h := start(t).PlayUntil(t, "began", modeltest.Shell("touch began; sleep 7155.25"), streamtest.GoodReply("slept"))
	if !h.IsStopped() {
		t.Fatalf("Outcome = %+v, want it to be stopped", h.Ended)
	}
	streamtest.WantNoProcess(t, "7155.25")
}

// TestRealSessions: a fork reviews a session, and the session goes on. Seed 003, "Supervisor
// Feedback".
func TestRealSessions(t *testing.T) {
	o := start(t)
	first := o.Play(t, streamtest.GoodReply("worked"))
	first.WantReply(t, "worked")
	o.Assignment.Contract, o.Assignment.Prompt, o.Assignment.Follow = contract.Review, "You are the Supervisor.", &agent.Follow{Session: first.Session, Fork: true}
	review := o.Play(t, modeltest.Say("Mend it."))
	review.WantReply(t, "Mend it.")
	if review.Session == first.Session || review.Session == "" || review.Spent == nil || review.Spent.Input != 1000 {
		t.Errorf("session %q, spent %+v, want another session than %q and the work of one step", review.Session, review.Spent, first.Session)
	}
	o.Assignment.Contract, o.Assignment.Prompt, o.Assignment.Follow = contract.Instruction, "You are the Implementor.", &agent.Follow{Session: first.Session}
	again := o.Play(t, streamtest.GoodReply("mended"))
	again.WantReply(t, "mended")
	q := o.Server.Requests()
	history := q[len(q)-1].Messages
	if again.Session != first.Session || !slices.ContainsFunc(history, func(m modeltest.Message) bool { return strings.Contains(m.Text, `"worked"`) }) ||
		slices.ContainsFunc(history, func(m modeltest.Message) bool { return strings.Contains(m.Text, "Mend it.") }) {
		t.Errorf("session %q, history %.200q, want the first session without the review", again.Session, history)
	}
}

// TestRealLimit: opencode would wait for an hour in silence; its log says so at once.
func TestRealLimit(t *testing.T) {
	began := time.Now()
	h := start(t).Play(t, modeltest.Status(429, "retry-after", "3600"))
	if later := streamtest.WantErr[*agent.LaterError](t, h, "Rate limit reached"); later.Busy || time.Since(began) > 5*time.Minute { // of the hour; the start of opencode alone takes long on a busy machine
		t.Errorf("%+v after %v, want a limit at once", later, time.Since(began))
	}
}
