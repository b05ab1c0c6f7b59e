package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rounds is how often each kind of loss is tried.
func rounds() int {
	if n, err := strconv.Atoi(os.Getenv("KANBAN_TEST_ROUNDS")); err == nil {
		return n
	}
	return 2
}

// inRounds runs a test several times, some at the same time, each with boards of its own.
func inRounds(t *testing.T, do func(t *testing.T, round int)) {
	t.Helper()
	for i := range rounds() {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) { do(t, i+1) })
	}
}

// soon is a moment within the next two steps.
func soon() { time.Sleep(time.Duration(rand.Int64N(int64(1500 * time.Millisecond)))) }

// firstCall is the time of the first call of an agent after a time.
func (l *lab) firstCall(after time.Time) (first time.Time, found bool) {
	for line := range strings.Lines(l.read("calls")) {
		fields := strings.Fields(line)
		nanos, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
		if at := time.Unix(0, nanos); err == nil && at.After(after) {
			return at, true
		}
	}
	return time.Time{}, false
}

// resumed waits until another worker goes on, and looks whether that was in time: the lease,
// and what the start takes.
func (l *lab) resumed(since time.Time) {
	l.Helper()
	var first time.Time
	l.until(time.Minute, "another worker goes on", func() (found bool) {
		first, found = l.firstCall(since)
		return found
	})
	took := first.Sub(since)
	l.Logf("resumed after %v", took.Round(10*time.Millisecond))
	if took > 2*lease+15*time.Second { // of a second or so, on a machine that has nothing else to do
		l.Errorf("a lease of %v was over, and the board went on after %v", lease, took)
	}
}

// A worker that is killed, alone or with all that runs on its machine, loses nothing: another
// one goes on after the lease.
func TestWorkerKilled(t *testing.T) {
	inRounds(t, func(t *testing.T, round int) {
		l := newLab(t, 1)
		first := l.startWorker("first", nil, l.implementors())
		l.mustSubmit(l.remote, board(1))
		l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 1) })
		soon()
		if round%2 == 0 {
			first.kill()
			l.until(2*time.Second, "its run ends, too", func() bool { return len(processesIn(filepath.Join(l.dir, "first", "project"))) == 0 })
		} else {
			first.lose()
		}
		killed := time.Now()
		l.startWorker("second", nil, l.implementors())
		l.resumed(killed)
		if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
			t.Errorf("exit %d: %s", code, out)
		}
		l.wantWhole(board(1))
	})
}

// A worker that does not reach the server any more ends its runs before its lease is
// over, although it reaches the repository; another one goes on. Once the network is
// mended it runs boards again.
func TestPartition(t *testing.T) {
	inRounds(t, func(t *testing.T, round int) {
		l := newLab(t, 2)
		link := l.newLink()
		c := l.command(append([]string{"worker", "--repository", l.remote, "--kanban-run", l.program, "--work", "first", "--lease", lease.String(), "--"}, l.implementors()...)...)
		c.Env = append(c.Env, fmt.Sprintf("TEMPORAL_ADDRESS=127.0.0.1:%d", link.port))
		first := l.startMachine("first", c)
		l.mustSubmit(l.remote, board(1))
		l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 1) })
		soon()
		link.Cut()
		cut := time.Now()
		second := l.startWorker("second", nil, l.implementors())
		l.until(lease, "the first worker ends its run before the lease is over", func() bool {
			return len(processesIn(l.dir+"/first/project.git")) == 0 && strings.Contains(l.read("first.log"), "msg=ended")
		})
		t.Logf("ended after %v", time.Since(cut).Round(10*time.Millisecond))
		l.until(time.Minute, "the second worker goes on", func() bool { return strings.Contains(l.read("second.log"), "msg=run") })
		l.resumed(cut.Add(lease))
		if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
			t.Errorf("exit %d: %s", code, out)
		}
		l.wantWhole(board(1))

		second.stop()
		link.Mend()
		l.mustSubmit(l.remote, board(2))
		l.until(time.Minute, "the first worker runs boards again", func() bool { return l.isAt(board(2), 1) })
		first.stop()
	})
}

// A server that is killed and started again has its boards go on.
func TestServerKilled(t *testing.T) {
	inRounds(t, func(t *testing.T, round int) {
		l := newLab(t, 1)
		l.startWorker("first", nil, l.implementors())
		l.mustSubmit(l.remote, board(1))
		l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 1) })
		soon()
		_ = l.server.Process.Kill()
		_ = l.server.Wait()
		if round%2 == 0 {
			time.Sleep(2 * lease) // the run is ended, and goes on later
		}
		l.startServer()
		if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
			t.Errorf("exit %d: %s", code, out)
		}
		l.wantWhole(board(1))
	})
}
