//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/modeltest"
)

// feedback is how an agent's prompt begins that has a supervisor's verdict in it.
const feedback = "Your work was reviewed"

// supervised has the model play an agent and its supervisor, which is content the third time.
func (s *realSite) supervised(verdicts ...string) {
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		rounds := 0
		for _, m := range q.Messages {
			if m.Role == "user" {
				rounds += strings.Count(m.Text, feedback)
			}
		}
		switch {
		case strings.Contains(said, "You are now the supervisor"):
			return modeltest.Play(modeltest.Say(verdicts[min(rounds, len(verdicts)-1)])), true
		case strings.Contains(said, feedback):
			return modeltest.Play(modeltest.WriteFile(s.path(fmt.Sprintf("out/round-%d.txt", rounds)), said), modeltest.Structured(reply("ok", fmt.Sprintf("Round %d.", rounds)))), true
		default:
			return s.work(q, said)
		}
	})
}

// reviewedSite has a board of one task whose role is reviewed.
func reviewedSite(t *testing.T, name string) *realSite {
	s := newReal(t, name, 1)
	s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\n"+s.header+"review: supervisor\nreview_rounds: 3\n---\nYou implement.\n")
	s.write("SUPERVISOR.md", "You are strict.\n")
	return s
}

// TestRealReview is seed 003 in a batch: two rounds of feedback, and then completion. The agent
// goes on in its own session, the supervisor looks at it in forks.
func TestRealReview(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := reviewedSite(t, name)
		s.supervised("Add a test.", "Not yet [TASK_COMPLETED]: run it.", "All is there.\n\n[TASK_COMPLETED]")
		s.run(exitComplete)
		for file, want := range map[string]string{"out/1.txt": "written by " + name, "out/round-1.txt": "Add a test.", "out/round-2.txt": "run it."} {
			if got := s.read(file); !strings.Contains(got, want) {
				t.Errorf("%s = %q, want %q in it", file, got, want)
			}
		}
		log := s.ask("log", "kanban.yaml")
		for _, want := range []string{"Add a test.", "run it.", "Round 2."} {
			if !strings.Contains(log, want) {
				t.Errorf("the log lacks %q:\n%s", want, log)
			}
		}
		s.strict()
		s.unchanged(name)
		// A session tells what it came to from its beginning, a fork what its parent came to as
		// well: each turn is charged once.
		turns := int64(len(s.model.Requests()))
		if used := s.used(); exact(name) && (used.Input != 1000*turns || used.Output != 50*turns) || name == "claude" && (used.Cost == nil || *used.Cost != 5000*turns) {
			t.Errorf("status says %+v for %d turns of 1000 tokens in, 50 out and half a cent", used, turns)
		}
	}, "gemini", "acp") // which cannot fork
}

// strict checks that every supervisor was told its role, and no agent was.
func (s *realSite) strict() {
	s.t.Helper()
	looks := 0
	for _, q := range s.model.Requests() {
		if len(q.Messages) == 0 {
			continue
		}
		last := ""
		for _, m := range q.Messages {
			if m.Role == "user" && (strings.Contains(m.Text, "You are now the supervisor") || strings.Contains(m.Text, feedback) || taskOf(m.Text) != "") {
				last = m.Text
			}
		}
		supervises := strings.Contains(last, "You are now the supervisor")
		told := strings.Contains(q.System+last, "You are strict.")
		if supervises {
			looks++
		}
		if supervises != told {
			s.t.Errorf("a request of a supervisor: %t; it is told that it is strict: %t", supervises, told)
		}
	}
	if looks != 3 {
		s.t.Errorf("the model was asked %d times by a supervisor, want 3", looks)
	}
}

// unchanged checks that a supervisor left no word in the agent's own session.
func (s *realSite) unchanged(name string) {
	s.t.Helper()
	for _, q := range s.model.Requests() {
		agent, supervisors := false, 0
		for i, m := range q.Messages {
			if m.Role == "user" && strings.Contains(m.Text, "You are now the supervisor") {
				supervisors++
				agent = i < len(q.Messages)-1 && strings.Contains(q.Messages[len(q.Messages)-1].Text, feedback)
			}
		}
		if agent || supervisors > 1 {
			s.t.Errorf("%s: a session has the words of %d supervisors, the agent's own: %t", name, supervisors, agent)
		}
	}
}

// TestRealReviewReadOnly: a supervisor may change nothing, unless its prompt's file or the role
// says that it may. Being refused, it still gives its verdict.
func TestRealReviewReadOnly(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		for _, tt := range []struct {
			role, prompt string
			written      bool
		}{
			{"supervisor", "", false},
			{"supervisor", "---\npermission: full\n---\n", true},
			{"{supervisor: true, permission: full}", "---\npermission: read-only\n---\n", true},
		} {
			s := reviewedSite(t, name)
			s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\nreview: "+tt.role+"\npermission: full\n---\nYou implement.\n")
			s.write("SUPERVISOR.md", tt.prompt+"You are strict.\n")
			s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
				if strings.Contains(said, "You are now the supervisor") {
					if name == "opencode" && !slices.Contains(q.Tools, "write") { // it is not even offered
						return modeltest.Play(modeltest.Say("[TASK_COMPLETED]")), true
					}
					return modeltest.Play(modeltest.WriteFile(s.path("out/supervisor.txt"), "It was me."), modeltest.Say("[TASK_COMPLETED]")), true
				}
				return s.work(q, said)
			})
			s.run(exitComplete)
			s.says("the reviewer of Implementor accepts the work (round 1")
			if _, err := os.Stat(s.path("out/supervisor.txt")); (err == nil) != tt.written {
				t.Errorf("review %s with %q: the supervisor wrote a file: %t", tt.role, tt.prompt, err == nil)
			}
		}
	}, "gemini", "acp")
}

// TestRealReviewCommand is seed 003 with a program in the supervisor's place: what it printed goes
// to the agent, in its session, and the reply counts once it is content.
func TestRealReviewCommand(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := reviewedSite(t, name)
		s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\n"+s.header+"review: {command: sh check.sh}\naccepts: [feedback]\n---\nYou implement.\n")
		s.write("check.sh", "test -f out/round-1.txt && exit 0; echo there is no first round; exit 1\n")
		s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
			if strings.Contains(said, "there is no first round") {
				return modeltest.Play(modeltest.WriteFile(s.path("out/round-1.txt"), "x"), modeltest.Structured(reply("ok", "Round 1."))), true
			}
			return s.work(q, said)
		})
		s.run(exitComplete)
		s.says("the review command of Implementor is not content (round 1", "there is no first round", "Implementor goes on with the work (round 2)",
			"the review command of Implementor accepts the work (round 2")
		continued := false
		for _, q := range s.model.Requests() {
			said := ""
			for _, m := range q.Messages {
				said += m.Text
			}
			continued = continued || strings.Contains(said, feedback) && taskOf(said) != ""
		}
		if resumes := name != "gemini" && name != "acp"; continued != resumes {
			t.Errorf("%s: the feedback is a message in the session of the work: %t, want %t", name, continued, resumes)
		}
	})
}

// TestRealReviewRefused: a tool that cannot fork a session says so before anything starts.
func TestRealReviewRefused(t *testing.T) {
	t.Parallel()
	s := reviewedSite(t, "gemini")
	s.run(exitInvalid)
	s.says("gemini does not support review")
	if n := len(s.model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestRealReviewWithoutEnd: a supervisor that is never content leaves the board to a person, and
// the next run starts afresh.
func TestRealReviewWithoutEnd(t *testing.T) {
	t.Parallel()
	s := reviewedSite(t, "claude")
	s.supervised("More.")
	s.run(exitNeedsPerson)
	s.says("the reviewer of Implementor is not content after 4 rounds: More.")
	s.says("then the same command goes on")
	s.supervised("[TASK_COMPLETED]")
	s.run(exitComplete)
	if log := s.ask("log", "kanban.yaml"); !strings.Contains(log, "the reviewer of Implementor accepts the work (round 1") {
		t.Errorf("the log is %s, want the second run's supervisor to accept the work", log)
	}
}

// TestRealReviewLimit: a limit of cost is looked at after each verdict, and what was
// spent by then is charged once.
func TestRealReviewLimit(t *testing.T) {
	t.Parallel()
	s := reviewedSite(t, "claude")
	s.supervised("More.")
	s.run(exitLimit, "--max-cost", "0.015")
	s.says("the limit of $0.0150 (max_cost) is reached: $0.0150 used", "is not content (round 1")
	if turns := len(s.model.Requests()); turns != 3 {
		t.Errorf("the model was asked %d times, want the agent's two turns and the supervisor's one\n%s", turns, s.asked())
	}
	if used := s.used(); used.Cost == nil || *used.Cost != 15000 {
		t.Errorf("status says %+v, want one and a half cents", used)
	}
	s.supervised("[TASK_COMPLETED]")
	s.run(exitComplete)
}

// TestRealReviewKilled: SIGKILL while the supervisor looks at the work leaves no process, and
// the review is held again.
func TestRealReviewKilled(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := reviewedSite(t, name)
		s.write("SUPERVISOR.md", "---\npermission: full\n---\nYou are strict.\n")
		s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
			if strings.Contains(said, "You are now the supervisor") {
				return modeltest.Play(modeltest.Shell("touch " + s.path("busy") + "; sleep 600")), true
			}
			return s.work(q, said)
		})
		must(t, os.MkdirAll(s.path("out"), 0o755))
		r := s.start(nil)
		s.await("busy")
		r.kill(runnerOnly)
		r.wait()
		s.nobodyIsLeft()
		s.supervised("[TASK_COMPLETED]")
		s.run(exitComplete)
		if log := s.ask("log", "kanban.yaml"); !strings.Contains(log, "accepts the work (round 1") || !strings.Contains(log, "the run died before") {
			t.Errorf("the log is %s, want the review to be held again", log)
		}
	}, "gemini", "acp")
}

// TestRealReviewAgain: a supervisor that gives no verdict is asked again, and the agent's work is
// not done again because of it.
func TestRealReviewAgain(t *testing.T) {
	t.Parallel()
	s := reviewedSite(t, "claude")
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		if strings.Contains(said, "You are now the supervisor") {
			if strings.Contains(s.read("output"), "gave no verdict") {
				return modeltest.Play(modeltest.Say("[TASK_COMPLETED]")), true
			}
			return modeltest.Play(modeltest.Status(400)), true // claude itself asks some times more
		}
		return s.work(q, said)
	})
	s.run(exitComplete)
	s.says("the reviewer of Implementor, attempt 2, gave no verdict", "API Error: 400", "accepts the work (round 1")
	wrote := 0
	for _, q := range s.model.Requests() {
		if q.Answer == "write" {
			wrote++
		}
	}
	if wrote != 1 {
		t.Errorf("the agent did its work %d times, want once\n%s", wrote, s.asked())
	}

	s = reviewedSite(t, "claude")
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		if strings.Contains(said, "You are now the supervisor") {
			return modeltest.Play(modeltest.Status(400)), true
		}
		return s.work(q, said)
	})
	s.run(exitNeedsPerson, "--max-retries", "1")
	s.says("the reviewer of Implementor gave no verdict in 2 attempts; the last: API Error: 400")
}

// TestRealReviewTimeout: a review has a timeout of its own, and one that is over is no verdict.
func TestRealReviewTimeout(t *testing.T) {
	t.Parallel()
	s := reviewedSite(t, "claude")
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		if strings.Contains(said, "You are now the supervisor") {
			return modeltest.Play(modeltest.Hang()), true
		}
		return s.work(q, said)
	})
	began := time.Now()
	s.run(exitNeedsPerson, "--max-retries", "0", "--timeout", "8s")
	s.says("the reviewer of Implementor gave no verdict in 1 attempt", "timed out after 8s", "at least $0.01")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v to end", took)
	}
}

// TestRealReviewOfPipe: an agent that puts a pipe in its task's place hangs no program. Its reply
// counts, and its work is reviewed.
func TestRealReviewOfPipe(t *testing.T) {
	t.Parallel()
	s := reviewedSite(t, "claude")
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		switch {
		case strings.Contains(said, "You are now the supervisor"):
			return modeltest.Play(modeltest.Say("[TASK_COMPLETED]")), true
		case taskOf(said) != "":
			return modeltest.Play(modeltest.Shell("rm tasks/1.md && mkfifo tasks/1.md"), modeltest.Structured(reply("ok", "Made a pipe."))), true
		}
		return s.work(q, said)
	})
	s.run(exitComplete)
	s.says("Made a pipe.", "tasks/1.md: it is not a regular file; its reply counts", "accepts the work")
}

// TestRealReviewNeedsPrompt is seed 003, "SUPERVISOR.md 不存在": an error before anything starts,
// that says how to create one.
func TestRealReviewNeedsPrompt(t *testing.T) {
	t.Parallel()
	s := reviewedSite(t, "claude")
	if err := os.Remove(s.path("SUPERVISOR.md")); err != nil {
		t.Fatal(err)
	}
	s.run(exitInvalid)
	s.says("there is no SUPERVISOR.md", "kanban-run supervise --example > SUPERVISOR.md")
	if n := len(s.model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times before the error", n)
	}
	home := ""
	for _, v := range s.env {
		if value, ok := strings.CutPrefix(v, "HOME="); ok {
			home = value
		}
	}
	must(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o755))
	must(t, os.WriteFile(filepath.Join(home, ".claude", "SUPERVISOR.md"), []byte("You are strict.\n"), 0o644))
	s.supervised("a", "b", "[TASK_COMPLETED]")
	s.run(exitComplete)
	s.strict()
}

// TestRealSessionIsKept: the session of an attempt is journaled when its tool names it, so that it
// is known of a killed run; and a timeout names the tool that the agent waited for.
func TestRealSessionIsKept(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
			return modeltest.Play(modeltest.Shell("touch " + s.path("busy") + "; sleep 600")), true
		})
		r := s.start(nil)
		s.await("busy")
		r.kill(bothHalves)
		r.wait()
		s.awaitHalves()
		if status := s.ask("status", "--verbose", "kanban.yaml"); !strings.Contains(status, "\n  session  ") {
			t.Errorf("status knows no session:\n%s", status)
		}
		s.run(exitExhausted, "--timeout", "5s", "--max-retries", "0")
		s.says("timed out after 5s", "; it was waiting for ", "sleep 600")
	}, "gemini", "opencode", "acp")
}
