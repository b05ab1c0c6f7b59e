//go:build linux

package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRandomCopies copies the folder of a board at any moment of its run, also when both halves of the
// program were just killed, and runs the board in the copy. That ends nothing of the original, whose run
// goes on, or whose next run ends what the killed one has left. KANBAN_TEST_SOAK is the number of copies.
func TestRandomCopies(t *testing.T) {
	t.Parallel()
	copies, random := randomTries(t, 4, 40)
	binary := built(t, buildPlain)
	codes := map[int]int{}
	for range copies {
		codes[copyOnce(t, binary, random)]++
	}
	t.Logf("exit codes of the copies: %v", codes)
}

// copyOnce returns the exit code of the copy. It is not always 0: files that are copied one after the
// other need not fit together.
func copyOnce(t *testing.T, binary string, random *rand.Rand) int {
	const tasks = 4
	s := newSite(t, binary, tasks)
	defer endBearers(t, s.marker)
	s.env = []string{"CRASH_NAP=0.4"} // so that the copy runs while an agent of the original works
	then := s.history()
	run := s.start(nil)
	time.Sleep(time.Duration(random.Int64N(int64(time.Second))))
	killed := random.IntN(2) == 0 && run.running()
	if killed {
		hit := run.kill(bothHalves)
		run.wait()
		s.settle(hit, then)
		then = s.history()
	}
	alike := newSite(t, binary, tasks)
	defer endBearers(t, alike.marker)
	if out, err := exec.Command("cp", "-a", s.dir+"/.", alike.dir).CombinedOutput(); err != nil {
		t.Logf("cp beside a run: %v: %s", err, out) // a file that was there a moment ago
	}
	for _, name := range []string{"busy", "calls", "output"} { // of the original's agents
		_ = os.Remove(alike.path(name))
	}
	left := slices.DeleteFunc(bearers(s.marker), func(p process) bool { // those that do not end by themselves
		return !strings.Contains(p.String(), "sleep 60")
	})
	code := alike.start(nil).wait()
	alike.nobodyIsLeft()
	if killed {
		for _, p := range left {
			if !p.alive() {
				t.Fatalf("the run of the copy, which ended with %d, has ended %v of the original\n%s\n%s", code, p, s.story(), alike.story())
			}
		}
		run = s.start(nil)
	}
	s.completes(run, then, tasks)
	for _, kind := range []string{"ATTEMPT_STOPPED", "REPLY_REJECTED"} {
		if ended := count(s.history().records, kind); !killed && len(ended) > 0 {
			t.Fatalf("attempts of the original have ended: %v\n%s", ended, s.story())
		}
	}
	return code
}
