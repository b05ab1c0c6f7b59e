//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// landPlaces are the places of "land".
func landPlaces() []place {
	return []place{{name: "land-merged"}, {name: "land-verified"}, {name: "land-started"}, {name: "land-put"}, {name: "land-files"}, {name: "land-index"}, {name: "land-moved"}, {name: "land-removed"}}
}

const landAgent = `read -r input
task=${input#*'"task_file":"'}; task=${task%%'"'*}
n=${task##*/}
rm -rf gone-$n dir-$n; echo file >dir-$n; echo more >>code-$n; ln -sf to-$n link-$n; mkdir -p new-$n; echo new >new-$n/file; printf '#!/bin/sh\n' >prog-$n; chmod +x prog-$n
echo '{"status":"ok","message":"done"}'
`

// toLand makes a checkout whose board is complete in a clone, and to whose branch the user has added a commit and edits of his own.
func toLand(t testing.TB, binary string) *site {
	t.Helper()
	s := newSite(t, binary, 2)
	for _, n := range []string{"1.md", "2.md"} {
		s.write("gone-"+n, "gone\n")
		s.write("dir-"+n+"/in", "in\n")
		s.write("code-"+n, "code\n")
	}
	s.write("agent.sh", landAgent)
	s.write(".kanban-run.yaml", "land_verify: test -e code-1.md\n")
	s.write("edited", "as committed\n")
	s.write(".gitignore", ".kanban-run/\noutput\nheld\n")
	s.gitOf(s.dir, "init", "-q", "-b", "main")
	s.gitOf(s.dir, "config", "user.name", "n")
	s.gitOf(s.dir, "config", "user.email", "n@example.com")
	s.gitOf(s.dir, "add", "-A")
	s.gitOf(s.dir, "commit", "-qm", "first")
	s.args = []string{"--clones", "--exec", "sh agent.sh", "--agent", "Manager=walk"}
	if code := s.start(nil).wait(); code != exitComplete {
		t.Fatalf("exit code %d\n%s", code, s.read("output"))
	}
	s.write("theirs", "a commit meanwhile\n")
	s.gitOf(s.dir, "add", "theirs")
	s.gitOf(s.dir, "commit", "-qm", "meanwhile", "--", "theirs")
	s.write("edited", "as committed\nan edit\n")
	s.write("staged", "staged\n")
	s.gitOf(s.dir, "add", "staged")
	return s
}

// land has the board land to its end, or to its kill, and returns the exit code: by the command, or by a run if the site says so.
func (s *site) land(env ...string) int {
	s.t.Helper()
	s.write("output", "")
	if slices.Contains(s.args, "--land") {
		code := s.start(env).wait()
		s.awaitHalves()
		return code
	}
	return s.launch(s.command(env, "land", "kanban.yaml")).wait()
}

// checkBetween: behind a kill each file is as it was or as it is to be, what the user has is untouched, and git is whole.
func (s *site) checkBetween() {
	s.t.Helper()
	for _, n := range []string{"1.md", "2.md"} {
		gone, code, link := s.read("gone-"+n), s.read("code-"+n), ""
		if l, err := os.Readlink(s.path("link-" + n)); err == nil {
			link = l
		}
		for what, is := range map[string]bool{"gone": gone == "" || gone == "gone\n", "code": code == "code\n" || code == "code\nmore\n", "link": link == "" || link == "to-"+n,
			"dir": s.read("dir-"+n) == "file\n" || s.read("dir-"+n+"/in") == "in\n" || !exists(s.path("dir-"+n+"/in"))} {
			if !is {
				s.t.Fatalf("%s of %s is neither as it was nor as it is to be: %q %q %q\n%s", what, n, gone, code, link, s.read("output"))
			}
		}
	}
	if s.read("edited") != "as committed\nan edit\n" || s.read("staged") != "staged\n" || s.read("theirs") != "a commit meanwhile\n" {
		s.t.Fatalf("what the user has is %q, %q, %q", s.read("edited"), s.read("staged"), s.read("theirs"))
	}
	if out := s.gitOf(s.dir, "fsck", "--strict", "--no-dangling"); strings.Contains(out, "missing") || strings.Contains(out, "corrupt") {
		s.t.Fatal(out)
	}
}

// checkNothingMoved: a landing that is refused behind a killed one leaves the files as they were.
func (s *site) checkNothingMoved() {
	s.t.Helper()
	s.write(".git/MERGE_HEAD", s.gitOf(s.dir, "rev-parse", "HEAD")+"\n")
	if code := s.land(); code != exitNeedsPerson {
		s.t.Fatalf("exit code %d\n%s", code, s.read("output"))
	}
	s.remove(".git/MERGE_HEAD")
	s.isUntouched()
}

// checkLanded: the work is in the branch, the index and the files, once, and nothing of the way there is left.
func (s *site) checkLanded() {
	s.t.Helper()
	for _, n := range []string{"1.md", "2.md"} {
		link, _ := os.Readlink(s.path("link-" + n))
		if exists(s.path("gone-"+n)) || s.read("dir-"+n) != "file\n" || s.read("code-"+n) != "code\nmore\n" || link != "to-"+n || s.read("new-"+n+"/file") != "new\n" {
			s.t.Fatalf("the files of %s are not as the work has them\n%s", n, s.read("output"))
		}
		if info, err := os.Stat(s.path("prog-" + n)); err != nil || info.Mode()&0o111 == 0 {
			s.t.Fatalf("prog-%s: %v", n, err)
		}
	}
	if got, want := s.gitOf(s.dir, "status", "--short"), "M edited\n M kanban.yaml\nA  staged"; got != want {
		s.t.Fatalf("git status says\n%s\nwant\n%s\n%s", got, want, s.read("output"))
	}
	if got, want := s.gitOf(s.dir, "log", "--format=%s", "--topo-order"), "Land kanban.yaml: 2 tasks\ntasks/2.md\ntasks/1.md\nmeanwhile\nfirst"; got != want {
		s.t.Fatalf("the commits are\n%s\nwant\n%s", got, want)
	}
	if got := s.gitOf(s.dir, "for-each-ref", "--format=%(refname)"); strings.Contains(got, "kanban/") || strings.Contains(got, "/work/") || strings.Contains(got, "/landing/") || strings.Count(got, "/landed/") != 1 {
		s.t.Fatalf("the references are\n%s", got)
	}
	left, _ := filepath.Glob(s.dir + ".clones/*")
	for _, file := range []string{s.path(".git/index.lock"), s.path(".kanban-run/runs/kanban.yaml/land")} {
		if exists(file) {
			left = append(left, file)
		}
	}
	if len(left) > 0 {
		s.t.Fatalf("left: %v", left)
	}
	s.checkBetween()
}

// TestLandOutlivesEveryKill kills "land" at each of its places, each time that it comes there, at calls of git, and again while it ends what
// was killed. The next one brings the work in.
func TestLandOutlivesEveryKill(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	n := 0
	for _, p := range append(landPlaces(), place{name: "git-call", step: 3}, place{name: "renamed"}, place{name: "journal-written"}) {
		if n++; !inSample(t, n, 3) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at += max(1, p.step) {
				s := toLand(t, binary)
				if at%2 == 0 {
					s.args = append(s.args, "--land")
				}
				kill := fmt.Sprintf("KANBAN_TEST_FAILPOINT=%s@%d=self", p.name, at)
				code := s.land(kill)
				s.checkBetween()
				if code == exitComplete {
					s.checkLanded()
					break
				}
				if exists(s.path(".kanban-run/runs/kanban.yaml/land/swap.json")) && p.name == "land-put" {
					s.checkNothingMoved()
				}
				if at%3 == 0 { // the one that goes on is killed, too
					s.land(kill)
					s.checkBetween()
				}
				if code := s.land(); code != exitComplete {
					t.Fatalf("behind %s: exit code %d\n%s", kill, code, s.read("output"))
				}
				s.checkLanded()
			}
		})
	}
}

// TestLandRandomKills kills "land" at random moments until the work is in.
func TestLandRandomKills(t *testing.T) {
	t.Parallel()
	kills, random := randomTries(t, 10, 150)
	binary, boards, began := built(t, buildPlain), 0, 0
	for n := 0; n < kills; boards++ {
		n, began = killLanding(t, binary, random, n, began)
	}
	t.Logf("%d boards, %d kills behind the first byte", boards, began)
}

func killLanding(t *testing.T, binary string, random *rand.Rand, n, began int) (int, int) {
	s := toLand(t, binary)
	for {
		r := s.launch(s.command(nil, "land", "kanban.yaml"))
		time.Sleep(time.Duration(random.Int64N(int64(250 * time.Millisecond))))
		if r.running() {
			must(t, r.cmd.Process.Signal(syscall.SIGKILL))
			n++
			if exists(s.path(".kanban-run/runs/kanban.yaml/land")) {
				began++
			}
		}
		code := r.wait()
		s.checkBetween()
		if code == exitComplete {
			s.checkLanded()
			return n, began
		}
	}
}

// TestPersonBesideALanding: what a person does with branch and index behind a killed landing, or while one is held, is neither undone nor
// mixed with it.
func TestPersonBesideALanding(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	at := func(place string) string { return "KANBAN_TEST_FAILPOINT=" + place + "@1=self" }
	t.Run("another branch behind a kill", func(t *testing.T) {
		t.Parallel()
		s := toLand(t, binary)
		s.land(at("land-index"))
		s.gitOf(s.dir, "switch", "-q", "-c", "feature")
		if code := s.land(); code != exitInvalid || !strings.Contains(s.read("output"), "git switch main; then land again") {
			t.Fatalf("exit code %d\n%s", code, s.read("output"))
		}
		s.gitOf(s.dir, "switch", "-q", "main")
		s.gitOf(s.dir, "branch", "-d", "feature")
		if code := s.land(); code != exitComplete {
			t.Fatalf("exit code %d\n%s", code, s.read("output"))
		}
		s.checkLanded()
	})
	t.Run("a commit behind a kill", func(t *testing.T) {
		t.Parallel()
		s := toLand(t, binary)
		s.land(at("land-files"))
		s.remove(".git/index.lock")
		s.gitOf(s.dir, "add", "-A")
		s.gitOf(s.dir, "commit", "-qm", "mine")
		if code := s.land(); code != exitComplete || !strings.Contains(s.read("output"), "main has the work already") {
			t.Fatalf("exit code %d\n%s", code, s.read("output"))
		}
		if got := s.gitOf(s.dir, "status", "--short"); got != "" {
			t.Fatalf("git status says\n%s", got)
		}
		s.checkBetween()
	})
	for place, code := range map[string]int{"land-started": exitNeedsPerson, "land-files": exitNeedsPerson} {
		t.Run("another branch at "+place, func(t *testing.T) {
			t.Parallel()
			s := toLand(t, binary)
			r := s.held(place)
			s.gitOf(s.dir, "switch", "-q", "-c", "feature")
			s.remove("held")
			if got := r.wait(); got != code || !strings.Contains(s.read("output"), "another branch was checked out meanwhile") {
				t.Fatalf("exit code %d\n%s", got, s.read("output"))
			}
			s.isUntouched()
			s.gitOf(s.dir, "switch", "-q", "main")
			s.gitOf(s.dir, "branch", "-d", "feature")
			if code := s.land(); code != exitComplete {
				t.Fatalf("exit code %d\n%s", code, s.read("output"))
			}
			s.checkLanded()
		})
	}
	t.Run("the branch moves", func(t *testing.T) {
		t.Parallel()
		s := toLand(t, binary)
		tree := s.gitOf(s.dir, "rev-parse", "HEAD^{tree}")
		commit := s.gitOf(s.dir, "commit-tree", tree, "-p", "HEAD", "-m", "another")
		r := s.held("land-files")
		s.gitOf(s.dir, "update-ref", "refs/heads/main", commit)
		s.remove("held")
		if code := r.wait(); code != exitComplete {
			t.Fatalf("exit code %d\n%s", code, s.read("output"))
		}
		if got, want := s.gitOf(s.dir, "status", "--short"), "M edited\n M kanban.yaml\nA  staged"; got != want {
			t.Fatalf("git status says\n%s", got)
		}
		if got := s.gitOf(s.dir, "log", "--format=%s", "--first-parent"); got != "Land kanban.yaml: 2 tasks\nanother\nmeanwhile\nfirst" {
			t.Fatalf("the commits are\n%s", got)
		}
	})
}

// held starts "land", and returns when it waits at a place until the file "held" is removed.
func (s *site) held(place string) *launched {
	s.t.Helper()
	r := s.launch(s.command([]string{"KANBAN_TEST_FAILPOINT=" + place + "@1=hold:" + s.path("held")}, "land", "kanban.yaml"))
	s.await("held")
	return r
}

// isUntouched: nothing of the work is in the checkout.
func (s *site) isUntouched() {
	s.t.Helper()
	if got, want := s.gitOf(s.dir, "status", "--short"), "M edited\n M kanban.yaml\nA  staged"; got != want {
		s.t.Fatalf("git status says\n%s\nwant\n%s\n%s", got, want, s.read("output"))
	}
}
