//go:build linux

package main

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
)

// onClaude runs a test with the one tool that can be told something while it works.
func onClaude(t *testing.T, test func(*testing.T, string)) {
	onEach(t, test, "codex", "gemini", "opencode", "acp")
}

// TestRealTell: a person says something while a command runs. The model sees it with the command's
// result, in the same turn, and replies once.
func TestRealTell(t *testing.T) {
	t.Parallel()
	onClaude(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.plays(modeltest.Shell("touch "+s.path("busy")+"; sleep 2"), s.wrote("1"), modeltest.Structured(reply("ok", "Wrote it.")))
		must(t, os.MkdirAll(s.path("out"), 0o755))
		r := s.start(nil)
		s.await("busy")
		if said := s.ask("tell", "kanban.yaml", "Use tabs, please."); !strings.HasPrefix(said, "Implementor has it (tasks/1.md, step 1)") {
			t.Errorf("tell says %q", said)
		}
		if code := r.wait(); code != exitComplete {
			t.Fatalf("exit code %d\n%s", code, s.read("output"))
		}
		s.says("a person tells Implementor: Use tabs, please.", "Implementor has the message", "Implementor ok in", "Wrote it.")
		if n := strings.Count(s.asked(), "turn 1"); n != 1 {
			t.Errorf("the model was asked %d times behind the command, want once:\n%s", n, s.asked())
		}
		for _, q := range s.model.Requests() {
			whole := ""
			for _, m := range q.Messages {
				whole += m.Text
			}
			if has := strings.Contains(whole, "Use tabs, please."); q.Turn > 0 && strings.Contains(whole, `"task_file"`) && !strings.Contains(whole, `"done_task"`) && !has {
				t.Errorf("turn %d: the model has not seen the message:\n%s", q.Turn, whole)
			}
		}
		s.nobodyIsLeft()
	})
}

// TestRealAsked is seed 000, "健康询问": a silent agent is asked beside its work, where its provider
// answers. The question leaves no trace in the conversation.
func TestRealAsked(t *testing.T) {
	t.Parallel()
	onClaude(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.write(".kanban-run.yaml", s.read(".kanban-run.yaml")+strings.NewReplacer("model_timeout: 6s", "model_timeout: 10s", "answer: 1s", "answer: 5s", "ceiling: 8s", "ceiling: 12s").Replace(impatient))
		var hung atomic.Bool
		s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
			switch {
			case strings.Contains(said, "Quick ping"):
				return modeltest.Play(modeltest.Say("Still at it, five minutes more.")), true
			case taskOf(said) != "" && hung.CompareAndSwap(false, true):
				return modeltest.Play(modeltest.Hang()), true
			default:
				return s.work(q, said)
			}
		})
		s.run(exitComplete)
		s.says("idle: its model has not answered for", "Implementor is asked: Quick ping on task #tasks/1.md", "Implementor answers: Still at it, five minutes more.",
			"is ended and started again", "Implementor ok in")
		resumed := 0
		for _, q := range s.model.Requests() {
			whole := ""
			for _, m := range q.Messages {
				whole += m.Text
			}
			if strings.Contains(whole, goOn) {
				if resumed++; strings.Contains(whole, "Quick ping") {
					t.Errorf("the question is in the conversation: %s", whole)
				}
			}
		}
		if resumed == 0 {
			t.Error("the model was never told to go on")
		}
	})
}
