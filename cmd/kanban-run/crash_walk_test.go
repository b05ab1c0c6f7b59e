//go:build linux

package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// walkPlaces are the places that only a run reaches whose Manager is walk.
func walkPlaces() []place { return []place{{name: "walked"}, {name: "walk-written"}} }

// TestWalkOutlivesEveryKill: a run whose Manager is walk is killed behind its decision, and behind the
// write of it. The next run finds the board as the decision leaves it and goes on, or decides anew;
// no task is worked on twice, and each is marked once.
func TestWalkOutlivesEveryKill(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	for _, p := range walkPlaces() {
		for _, v := range []string{"self", "both"} { // without its guardian a runner ends by itself
			for _, n := range []string{"1", "2", "3"} { // behind the last task the board ends
				t.Run(p.name+"/"+v+"/"+n, func(t *testing.T) {
					t.Parallel()
					killWalk(t, binary, p.name+"@"+n+"="+v)
				})
			}
		}
	}
}

func killWalk(t *testing.T, binary, failpoint string) {
	s := newSite(t, binary, 3)
	defer endBearers(t, s.marker)
	s.shield = true
	s.args = append(s.args, "--agent", "Manager=walk")
	then := s.history()
	if code := s.start([]string{"KANBAN_TEST_FAILPOINT=" + failpoint}).wait(); code != 128+int(syscall.SIGKILL) {
		t.Fatalf("%s: exit code %d, want the run killed\n%s", failpoint, code, s.story())
	}
	s.settle(whomItKilled(failpoint), then)
	if code := s.start(nil).wait(); code != exitComplete {
		t.Fatalf("exit code %d\n%s", code, s.story())
	}
	s.owed, s.owedMarks = nil, nil
	s.nobodyIsLeft()
	if got, want := s.read("kanban.yaml"), "current: null\ntasks:\n  - tasks/1.md [done]\n  - tasks/2.md [done]\n  - tasks/3.md [done]\n"; got != want {
		t.Errorf("the board is\n%s\nwant\n%s", got, want)
	}
	h := s.checkSince(history{})
	s.checkUndisturbed(h)
	var did []string
	for _, r := range h.records {
		if r.Type == "ATTEMPT_STARTED" || r.Type == "STEP_FINISHED" {
			did = append(did, r.Type+" "+r.Data.Task)
		}
	}
	var want []string
	for _, task := range []string{"tasks/1.md", "tasks/2.md", "tasks/3.md"} {
		want = append(want, "ATTEMPT_STARTED "+task, "STEP_FINISHED "+task)
	}
	if !slices.Equal(did, want) {
		t.Errorf("the journal has\n%s\nwant\n%s", strings.Join(did, "\n"), strings.Join(want, "\n"))
	}
}

// TestEditBehindWalk: what a person writes onto the board after a run has died behind the decision of
// walk stands: the end of a board, and which task is next, are the Manager's or a person's (seed 004,
// "Supervisor Rules").
func TestEditBehindWalk(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	const list = "tasks:\n  - tasks/1.md\n  - tasks/2.md\n  - tasks/3.md\n"
	for name, c := range map[string]struct {
		edit, want string
		exit       int
		works      []string
	}{
		"ended": {"current: null\n" + list, "current: null\n" + list, exitComplete, []string{"tasks/1.md"}},
		"ended as blocked": {"current: null\nended: blocked\n" + list, "current: null\nended: blocked\n" + list,
			exitNeedsPerson, []string{"tasks/1.md"}},
		"another task": {"current: tasks/3.md\n" + list,
			"current: null\ntasks:\n  - tasks/1.md\n  - tasks/2.md [done]\n  - tasks/3.md [done]\n",
			exitComplete,
			[]string{"tasks/1.md", "tasks/3.md", "tasks/2.md"}},
		"a comment": {"# mine\ncurrent: tasks/1.md\n" + list,
			"# mine\ncurrent: null\ntasks:\n  - tasks/1.md [done]\n  - tasks/2.md [done]\n  - tasks/3.md [done]\n",
			exitComplete,
			[]string{"tasks/1.md", "tasks/2.md", "tasks/3.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, binary, 3)
			defer endBearers(t, s.marker)
			s.shield = true
			s.args = append(s.args, "--agent", "Manager=walk")
			s.start([]string{"KANBAN_TEST_FAILPOINT=walked@1=both"}).wait()
			s.write("kanban.yaml", c.edit)
			if code := s.start(nil).wait(); code != c.exit {
				t.Errorf("exit code %d, want %d\n%s", code, c.exit, s.story())
			}
			if got := s.read("kanban.yaml"); got != c.want {
				t.Errorf("the board is\n%s\nwant\n%s", got, c.want)
			}
			var works []string
			for _, r := range s.history().records {
				if r.Type == "ATTEMPT_STARTED" {
					works = append(works, r.Data.Task)
				}
			}
			if !slices.Equal(works, c.works) {
				t.Errorf("worked on are %q, want %q", works, c.works)
			}
		})
	}
}
