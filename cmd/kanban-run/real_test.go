//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/modeltest"
)

// TestRealBoard: a board from its beginning to its end, with the tool's own file tool, on the
// first try. Cost, tokens and sessions are in status.
func TestRealBoard(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 2)
		s.run(exitComplete)
		for _, file := range []string{"out/1.txt", "out/2.txt"} {
			if got, want := s.read(file), "written by "+name; got != want {
				t.Errorf("%s = %q, want %q", file, got, want)
			}
		}
		if board := s.read("kanban.yaml"); !strings.Contains(board, "current: null") {
			t.Errorf("the board is %q, want it to be complete", board)
		}
		s.says("the board is complete")
		used, turns := s.used(), int64(len(s.model.Requests()))
		if used.Session == "" || used.Input == 0 && name != "acp" || exact(name) && (used.Input != 1000*turns || used.Output != 50*turns) || (used.Cost != nil && *used.Cost == 5000*turns) != (name == "claude") {
			t.Errorf("status says %+v after %d turns, want a session, tokens, and the cost where the tool tells one", used, turns)
		}
		if attempts := strings.Count(s.ask("log", "kanban.yaml"), "rejected"); attempts != 0 {
			t.Errorf("%d replies were rejected, want all to fit on the first try", attempts)
		}
	})
}

// TestRealExample: the example that people meet first runs with the real agents as it stands.
func TestRealExample(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 0)
		must(t, os.CopyFS(s.path("hello"), os.DirFS(filepath.Join("..", "..", "examples", "hello"))))
		s.dir = s.path("hello")
		s.write(".kanban-run.yaml", "env:\n  pass: [FAKE_API_KEY]\n")
		s.run(exitComplete)
		for _, file := range []string{"out/1-greet.txt", "out/2-answer.txt"} {
			if got, want := s.read(file), "written by "+name; got != want {
				t.Errorf("%s = %q, want %q", file, got, want)
			}
		}
		status := s.ask("status", "--verbose", "kanban.yaml")
		if !strings.Contains(status, "\n  session  "+s.used().Session) || !strings.Contains(status, map[bool]string{true: "\n  cost     $0.03", false: "\n  cost     unknown"}[name == "claude"]) {
			t.Errorf("status is\n%s", status)
		}
	}, "acp") // whose program a role has to name
}

// TestRealText: a tool that says in words what it was to say in JSON gets the same question
// again, and then it is over.
func TestRealText(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.plays(modeltest.Say("I have done all of it."))
		s.run(exitExhausted, "--max-retries", "1")
		s.says("not a JSON object", "gave no valid reply in 2 attempts")
	})
}

// TestRealFence: JSON in a Markdown fence after some words is a reply.
func TestRealFence(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.plays(modeltest.Say("Done:\n\n```json\n{\"status\": \"ok\", \"message\": \"fenced\"}\n```\n"))
		s.run(exitComplete)
		if log := s.ask("log", "kanban.yaml"); !strings.Contains(log, "fenced") || strings.Contains(log, "rejected") {
			t.Errorf("the log is %s, want the reply to fit", log)
		}
	})
}

// TestRealDenied: a tool that was not allowed ends the run, whatever the exit code of the agent says, and the agent
// is not asked again. Codex does not tell of it.
func TestRealDenied(t *testing.T) {
	s := newReal(t, "claude", 1)
	s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\npermission: read-only\n---\nWork.\n")
	s.run(exitInvalid)
	s.says("permission denied: Write", "hint: give the role permission: edit")
	if strings.Contains(s.read("output"), "attempt 2") {
		t.Errorf("the agent was asked again:\n%s", s.read("output"))
	}
	if s.read("out/1.txt") != "" {
		t.Error("a file was written that was not allowed")
	}
}

// TestRealAttemptLimits: the limit of an attempt ends the run with exit code 7, because the same
// attempt would reach it again; with -k the task is set aside, and nobody has to decide.
func TestRealAttemptLimits(t *testing.T) {
	s := newReal(t, "claude", 1)
	s.run(exitLimit, "--max-attempt-cost", "0.001")
	s.says("it reached max_cost", "--max-attempt-cost")
	if n := len(s.model.Requests()); n > 2 {
		t.Errorf("the model was asked %d times, want one attempt\n%s", n, s.asked())
	}
	s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\nmaxTurns: 1\n---\nWork.\n")
	s.run(exitLimit)
	s.says("it reached max_turns")
	s.run(exitLimit, "-k", "--agent", "Manager=walk")
	s.says("is set aside, and the board goes on")
	s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\nmaxTurns: 9\ndisallowedTools: Write, Edit\n---\nWork.\n")
	s.run(exitComplete)
	asked := s.model.Requests()
	if first := asked[len(asked)-3]; slices.Contains(first.Tools, "Write") || !slices.Contains(first.Tools, "Bash") {
		t.Errorf("the agent has the tools %q, want all but those that its role forbids\n%s", first.Tools, s.asked())
	}
}

// TestRealMCP: the servers of a role's file are started, with just the arguments that stand there.
// This one has nothing to say.
func TestRealMCP(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex"} {
		s := newReal(t, name, 1)
		s.write("mcp.json", fmt.Sprintf(`{"mcpServers": {"lab": {"command": "sh", "args": ["-c", "printf %%s \"$0\" > %s", "a \"b\" c"]}}}`, s.path("started")))
		s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\nmcp_config: mcp.json\n---\nWork.\n")
		s.run(exitComplete)
		if got, want := s.read("started"), `a "b" c`; got != want {
			t.Errorf("%s started the server with %q, want %q", name, got, want)
		}
	}
}

// TestRealWithheld: an agent that lacks a withheld variable leads to a hint of what passes it.
func TestRealWithheld(t *testing.T) {
	s := newReal(t, "codex", 1)
	s.write(".kanban-run.yaml", "")
	s.run(exitInvalid)
	s.says("Missing environment variable", "hint: kanban-run withholds FAKE_API_KEY from agents; env: {pass: [FAKE_API_KEY]} in .kanban-run.yaml passes it")
}

// TestRealIgnoredTools: a list of tools that restricts nothing does not look like one that does.
func TestRealIgnoredTools(t *testing.T) {
	s := newReal(t, "codex", 1)
	s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\ntools: Read, Grep\n---\nWork.\n")
	s.run(exitComplete)
	s.says("codex knows no list of tools: that of role Implementor restricts nothing")
	s = newReal(t, "codex", 1)
	s.run(exitComplete)
	if strings.Contains(s.read("output"), "knows no list") {
		t.Errorf("a role without a list is warned of: %s", s.read("output"))
	}
}

// TestRealLogin: a key that is refused is no reason to try again: exit code 2
// with the provider's words.
func TestRealLogin(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.plays(modeltest.Status(401))
		began := time.Now()
		s.run(exitInvalid)
		if took := time.Since(began); took > stuckAfter/2 {
			t.Errorf("it took %v to give up", took)
		}
		s.says(map[string]string{"claude": "API key", "codex": "Incorrect API key"}[name], "hint: ")
		if log := s.ask("log", "kanban.yaml"); strings.Count(log, "attempt 2") != 0 {
			t.Errorf("the log is %s, want one attempt", log)
		}
		// With a key that works the same command goes on.
		s.model.SetFallback(s.work)
		s.run(exitComplete)
	})
}

// TestRealLater: a usage limit is exit code 75 with the time at which it is over, and the
// same command goes on then.
func TestRealLater(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		if name == "claude" {
			s.env = modeltest.Subscribed(s.env)
		}
		reset := time.Now().Add(3 * time.Hour).Truncate(time.Minute)
		s.plays(modeltest.Limited(reset, 0))
		s.run(exitLater, "--patience", "0")
		s.says(reset.UTC().Format("2006-01-02T15:04"))
		s.model.SetFallback(s.work)
		s.run(exitComplete)
	}, "gemini", "opencode", "acp") // gemini waits in silence, and the fake model has no limit of opencode's
}

// TestRealHang: an API that never answers is ended by the timeout of the attempt.
func TestRealHang(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.plays(modeltest.Hang())
		s.run(exitExhausted, "--max-retries", "0", "--timeout", "4s")
		s.says("timed out after 4s")
	})
}

// TestRealTerminated: SIGTERM in the middle of a tool ends the run, the agent and the
// tool, and the board can go on.
func TestRealTerminated(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		r := s.busy()
		signalTo(t, r.guardian.pid, syscall.SIGTERM)
		if code := r.wait(); code != exitTerminated {
			t.Errorf("exit code %d, want %d\n%s", code, exitTerminated, s.read("output"))
		}
		s.nobodyIsLeft()
		s.model.SetFallback(s.work)
		s.run(exitComplete)
	})
}

// TestRealKilled: so does SIGKILL of either half of kanban-run, or of both.
func TestRealKilled(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		for _, v := range []victim{runnerOnly, guardianOnly, bothHalves} {
			t.Run(string(v), func(t *testing.T) {
				s := newReal(t, name, 1)
				r := s.busy()
				if r.kill(v); v != bothHalves {
					r.wait()
					s.nobodyIsLeft()
				}
				s.model.SetFallback(s.work)
				s.run(exitComplete)
				if got := s.read("out/1.txt"); got != "written by "+name {
					t.Errorf("the task's file is %q, want it to be written after all", got)
				}
			})
		}
	})
}

// busy starts the board and returns when the agent's tool is at work.
func (s *realSite) busy() *launched {
	s.t.Helper()
	sign := s.path("busy")
	s.plays(modeltest.Shell("touch "+sign+"; sleep 600"), modeltest.Structured(reply("ok", "slept")))
	r := s.start(nil)
	s.await("busy")
	if err := os.Remove(sign); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestRealMissing: without the program there is a way out: its installation, or a dry run.
func TestRealMissing(t *testing.T) {
	for _, name := range reals[:4] {
		s := newSite(t, built(t, buildPlain), 1)
		s.args = []string{"--agent", name}
		cmd := s.command([]string{"PATH=" + filepath.Dir(s.binary)}, append(s.args, "kanban.yaml")...)
		if code := s.launch(cmd).wait(); code != exitInvalid {
			t.Errorf("exit code %d without %s, want %d", code, name, exitInvalid)
		}
		for _, want := range []string{name + " cannot be started", "npm install -g", "--dry-run"} {
			if !strings.Contains(s.read("output"), want) {
				t.Errorf("it does not say %q, but: %s", want, s.read("output"))
			}
		}
	}
}
