//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inClone: the agents work in a clone, and each of them writes a file. Their own log stays in the site.
func inClone(t *testing.T, s *site) {
	t.Helper()
	s.write(".gitignore", ".kanban-run/\ncalls\nbusy\noutput\nhung\ngarbled\nlistening\n*.new\n")
	commitAll(t, s)
	s.gitOf(s.dir, "config", "user.name", "n")
	s.gitOf(s.dir, "config", "user.email", "n@example.com")
	s.args = append(s.args, "--clones")
	s.env = append(s.env, "CRASH_AT="+s.dir, "CRASH_WRITES=1")
	s.cloned = true
}

func (s *site) gitOf(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s\n%s", args, err, out, s.story())
	}
	return strings.TrimSpace(string(out))
}

// checkClone: each task has one commit with its own file, the clone stands at the last one, home has no file of the work and all
// of what was written into its tasks, and nothing of a half clone is left.
func (s *site) checkClone(n int) {
	s.t.Helper()
	clone := s.dir + ".clones/kanban.yaml"
	want := ""
	for i := n; i > 0; i-- {
		want += fmt.Sprintf("tasks/%d.md\n\nof-%[1]d.md\n", i)
		if log := s.read(fmt.Sprintf("tasks/%d.md", i)); strings.Count(log, "## Work log") != 1 {
			s.t.Fatalf("tasks/%d.md is at home\n%s\nwant one work log\n%s", i, log, s.story())
		}
		if exists(s.path(fmt.Sprintf("of-%d.md", i))) {
			s.t.Fatalf("of-%d.md is at home\n%s", i, s.story())
		}
	}
	if got := s.gitOf(s.dir, "log", "--format=%s", "--name-only", "kanban/kanban.yaml", "^HEAD"); got+"\n" != want {
		s.t.Fatalf("the commits are\n%s\nwant\n%s\n%s", got, want, s.story())
	}
	for _, ref := range []string{s.gitOf(s.dir, "for-each-ref", "--format=%(objectname)", "refs/kanban-run/work"), s.gitOf(clone, "rev-parse", "HEAD")} {
		if branch := s.gitOf(s.dir, "rev-parse", "kanban/kanban.yaml"); ref != branch {
			s.t.Fatalf("%s is not the branch %s\n%s", ref, branch, s.story())
		}
	}
	if got := s.gitOf(clone, "status", "--short"); strings.Contains(got, "of-") {
		s.t.Fatalf("the clone does not follow: %s\n%s", got, s.story())
	}
	s.gitOf(clone, "fsck", "--strict", "--no-dangling")
	if left, _ := filepath.Glob(s.dir + ".clones/*"); len(left) != 1 {
		s.t.Fatalf("there are %v\n%s", left, s.story())
	}
}

// TestPersonBehindAKill: a person writes below the work log of a task behind a kill that came once the work was home. The log
// stands there once, and the words of the person stay.
func TestPersonBehindAKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, built(t, buildFailpoints), failpointTasks)
	s.shield = true
	inClone(t, s)
	then := s.history()
	s.start([]string{"KANBAN_TEST_FAILPOINT=work-committed@1=self"}).wait()
	s.settle(runnerOnly, then)
	const words = "and a word of mine\n"
	s.write("tasks/1.md", s.read("tasks/1.md")+words)
	s.goOn()
	if text := s.read("tasks/1.md"); strings.Count(text, words) != 1 || strings.Contains(s.read("output"), "it was edited meanwhile") {
		t.Errorf("the task is\n%s\n%s", text, s.story())
	}
}

// TestCloneOutlivesEveryKill kills a run whose agents work in a clone at the places that are tried without one, too, and at each
// seventh call of git, because each third one takes CI two minutes.
func TestCloneOutlivesEveryKill(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	for at, p := range []place{{name: "git-call", scene: inClone, step: 7}, {name: "intent-durable", scene: inClone}, {name: "agent-gone", scene: inClone},
		{name: "reply-noted", scene: inClone}, {name: "board-written", scene: inClone}, {name: "renamed", scene: inClone, step: 13},
		{name: "temp-written", scene: inClone, step: 13}, {name: "forked", scene: inClone, step: 11}, {name: "agent-ended", scene: inClone}, {name: "run-end", scene: inClone}} {
		for i, v := range []string{"self", "both"} {
			if !inSample(t, at+i, 4) {
				continue
			}
			t.Run(p.name+"/"+v, func(t *testing.T) {
				t.Parallel()
				p.killEveryTime(t, binary, v)
			})
		}
	}
}
