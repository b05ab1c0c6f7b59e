//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	randomTasks = 7 // the last one is the runner's to write, others the Manager's
	latestKill  = 80 * time.Millisecond
)

// TestRandomKills kills the runner, its guardian or both at any moment, again and again, and looks
// whether anything was lost, done twice or left behind. KANBAN_TEST_SOAK is the number of kills,
// KANBAN_TEST_SEED repeats the choice of a failed run.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	kills, random := randomTries(t, 20, 300)
	binary := built(t, buildPlain)
	hits := map[victim]int{}
	boards := 0
	for n := 0; n < kills; boards++ {
		n += killUntilComplete(t, binary, random, kills-n, hits)
	}
	t.Logf("%d boards, kills of the %v", boards, hits)
}

// randomTries returns how often to try, few times or many in the exhaustive tests, and what chooses.
func randomTries(t *testing.T, few, many int) (tries int, random *rand.Rand) {
	t.Helper()
	tries = few
	if exhaustive() {
		tries = many
	}
	tries = int(number(t, "KANBAN_TEST_SOAK", int64(tries)))
	t.Logf("%d tries, KANBAN_TEST_SEED=%d", tries, sampleSeed())
	return tries, rand.New(rand.NewPCG(uint64(sampleSeed()), 0))
}

// number is the value of a variable.
func number(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// killUntilComplete runs one board to its end through at most so many kills,
// and returns their number.
func killUntilComplete(t *testing.T, binary string, random *rand.Rand, most int, hits map[victim]int) (kills int) {
	s := newSite(t, binary, randomTasks)
	defer endBearers(t, s.marker)
	isCloned := random.IntN(3) == 0
	s.env = []string{"CRASH_GARBAGE=Manager tasks/2.md", "CRASH_CUT=" + append(cuts(), "rename")[random.IntN(4)]}
	if random.IntN(2) == 0 {
		s.env = append(s.env, "CRASH_NAP=0.004")
	}
	slower := 1
	if isCloned {
		slower = 8 // it has a clone to make, and commits
		s.write(".kanban-run.yaml", "clones_setup: sh -c 'sleep 0.02; echo made >made'\n")
		inClone(t, s)
	}
	for {
		then := s.history()
		run := s.start(nil)
		if kills < most {
			time.Sleep(moment(random) * time.Duration(1+random.IntN(slower)))
		} else {
			run.wait()
		}
		if !run.running() {
			s.completes(run, then, randomTasks)
			return kills
		}
		killed := run.kill([]victim{runnerOnly, guardianOnly, bothHalves}[random.IntN(3)])
		hits[killed]++
		kills++
		run.wait()
		s.settle(killed, then)
	}
}

func moment(random *rand.Rand) time.Duration {
	return time.Duration(random.Int64N(int64(latestKill)))
}

// TestRandomSignals asks runs of tiny boards to end, at any moment of their start, their work and their end: each ends
// with a documented code, and the next run completes the board. KANBAN_TEST_SOAK is the number of signals. What comes in
// the first half of a millisecond, before package quit has begun, Go's runtime answers.
func TestRandomSignals(t *testing.T) {
	t.Parallel()
	signals, random := randomTries(t, 16, 200)
	for n := range signals {
		sent := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}[random.IntN(4)]
		if !t.Run(fmt.Sprintf("%d, %v", n, sent), func(t *testing.T) { signalOnce(t, sent, moment(random)) }) {
			return
		}
	}
}

func signalOnce(t *testing.T, sent syscall.Signal, after time.Duration) {
	s := newSite(t, built(t, buildPlain), 2)
	s.args = []string{"--quiet", "--agent", "stub"}
	run := s.start(nil)
	within(stuckAfter, func() bool { _, started := runnerOf(run.guardian.pid); return started || !run.running() })
	time.Sleep(after)
	if run.running() {
		_ = syscall.Kill(run.guardian.pid, sent) // it may end in this moment
	}
	want := map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated, syscall.SIGHUP: exitTerminated, syscall.SIGQUIT: exitQuit}[sent]
	code := run.wait()
	if out := s.read("output"); code != exitComplete && code != want || strings.Contains(out, "goroutine ") {
		t.Errorf("exit code %d, want %d or %d\n%.3000s", code, exitComplete, want, out)
	}
	if code := s.start(nil).wait(); code != exitComplete {
		t.Errorf("the next run ends with %d\n%.3000s", code, s.read("output"))
	}
	s.nobodyIsLeft()
}
