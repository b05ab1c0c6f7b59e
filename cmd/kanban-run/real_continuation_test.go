//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
)

const goOn = "Go on from where you were"

// cutShort starts the board, and waits until the agent has written a file and is
// in the middle of a command.
func (s *realSite) cutShort() *launched {
	s.t.Helper()
	s.model.SetFallback(func(_ *modeltest.Request, said string) (modeltest.Script, bool) {
		return modeltest.Play(s.wrote(taskOf(said)), modeltest.Shell("touch "+s.path("busy")+"; sleep 600")), true
	})
	must(s.t, os.MkdirAll(s.path("out"), 0o755))
	r := s.start(nil)
	s.await("busy")
	return r
}

// goesOn has the agent do no more than reply, and runs the board to its end. The model
// must see what it did before.
func (s *realSite) goesOn() {
	s.t.Helper()
	before := len(s.model.Requests())
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		if strings.Contains(said, goOn) {
			return modeltest.Play(modeltest.Structured(reply("ok", "Went on."))), true
		}
		return s.work(q, said)
	})
	s.run(exitComplete)
	s.says("goes on in its session with the work that was cut short (attempt 2)", "Went on.")
	seen := s.model.Requests()[before]
	whole := ""
	for _, m := range seen.Messages {
		whole += m.Text + "\n"
	}
	if strings.Count(whole, `"task_file"`) < 2 || !strings.Contains(whole, goOn) {
		s.t.Errorf("the model sees\n%s\nwant the work before, and that it is to go on", whole)
	}
}

// TestRealContinuation is DESIGN, "What must hold, always", 1: work that was cut short goes on in
// its session, however it was ended, and is not done again.
func TestRealContinuation(t *testing.T) {
	t.Parallel()
	ends := map[string]func(r *launched){
		"killed":      func(r *launched) { r.kill(bothHalves) },
		"runner":      func(r *launched) { r.kill(runnerOnly) },
		"interrupted": func(r *launched) { must(r.site.t, r.cmd.Process.Signal(os.Interrupt)) },
	}
	onEach(t, func(t *testing.T, name string) {
		for how, end := range ends {
			t.Run(how, func(t *testing.T) {
				s := newReal(t, name, 1)
				r := s.cutShort()
				end(r)
				r.wait()
				s.awaitHalves()
				s.goesOn()
				if got := s.read("out/1.txt"); got != "written by "+name {
					t.Errorf("out/1.txt = %q, want the work of the first attempt", got)
				}
			})
		}
	}, "gemini", "acp")
}

// TestRealContinuationLost: a tool that does not know the session any more starts
// afresh, and no retry is spent.
func TestRealContinuationLost(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		r := s.cutShort()
		r.kill(runnerOnly)
		r.wait()
		s.nobodyIsLeft()
		s.forgetSessions()
		s.model.SetFallback(s.work)
		s.run(exitComplete, "--max-retries", "0")
		s.says("goes on in its session", "the task starts from its beginning", "started (attempt 3)")
	}, "gemini", "acp", "opencode")
}

// TestRealRefusedHistory: a session that the provider refuses for its history is given up after two attempts in
// it, for a refusal is no work, and the task starts afresh.
func TestRealRefusedHistory(t *testing.T) {
	t.Parallel()
	for how, text := range map[string]string{
		"a call without its result": "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01",
		"an image":                  "messages.5.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
	} {
		t.Run(how, func(t *testing.T) {
			onEach(t, func(t *testing.T, name string) {
				s := newReal(t, name, 1)
				r := s.cutShort()
				r.kill(bothHalves)
				r.wait()
				s.awaitHalves()
				s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
					for _, m := range q.Messages {
						if strings.Contains(m.Text, goOn) {
							return modeltest.Play(modeltest.Status(400).Saying(text)), true
						}
					}
					return s.work(q, said)
				})
				s.run(exitComplete, "--max-retries", "2")
				if n := strings.Count(s.read("output"), "goes on in its session with the work"); n != 2 {
					t.Errorf("it goes on in its session %d times, want 2:\n%s", n, s.read("output"))
				}
				s.says("Implementor started (attempt 4)", "Implementor ok")
			}, "gemini", "opencode", "acp")
		})
	}
}

// TestRealDeclined: what the provider's safeguards decline is not tried again; a person decides.
func TestRealDeclined(t *testing.T) {
	t.Parallel()
	for how, step := range map[string]modeltest.Step{
		"a stop reason": modeltest.Decline(),
		"words":         modeltest.Status(400).Saying("Output blocked by content filtering policy"),
	} {
		t.Run(how, func(t *testing.T) {
			s := newReal(t, "claude", 1)
			s.plays(step)
			s.run(exitNeedsPerson)
			if n := strings.Count(s.read("output"), "Implementor started"); n != 1 {
				t.Errorf("it was started %d times, want once:\n%s", n, s.read("output"))
			}
			s.says("declined by the provider", "declines tasks/1.md, and would again")
		})
	}
}

// forgetSessions removes what the tool remembers.
func (s *realSite) forgetSessions() {
	s.t.Helper()
	for _, v := range s.env {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			must(s.t, os.RemoveAll(home+"/.claude/projects"))
			must(s.t, os.RemoveAll(home+"/.codex/sessions"))
		}
		if home, ok := strings.CutPrefix(v, "CODEX_HOME="); ok {
			must(s.t, os.RemoveAll(home+"/sessions"))
		}
		if home, ok := strings.CutPrefix(v, "CLAUDE_CONFIG_DIR="); ok {
			must(s.t, os.RemoveAll(home+"/projects"))
		}
	}
}
