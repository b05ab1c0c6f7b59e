package proc

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestForeignProcesses: what the guardian's process had before it was a guardian, and what that
// starts, is left alone, and yet nothing of the runner is left.
func TestForeignProcesses(t *testing.T) {
	g := startGuarded(t, "foreign-guard", "careless", "nothing", "bare", "limits", "group")
	var foreign, pids []int
	for joined := false; !joined || len(foreign) == 0; { // the foreign process speaks when it gets to it
		line := g.line()
		if pid, ok := strings.CutPrefix(line, "foreign "); ok {
			foreign = append(foreign, number(t, pid))
		} else if pid, ok := strings.CutPrefix(line, "joined "); !ok {
			pids = append(pids, number(t, line))
		} else if joined = true; len(pids) != 4 {
			t.Fatalf("the runner %s joined after %d of 4 processes", pid, len(pids))
		}
	}
	t.Cleanup(func() {
		for _, pid := range foreign {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	g.signal(foreign[0], syscall.SIGUSR1)
	foreign = append(foreign, g.expectPid(""))
	g.awaitScans(foreign[0], 3)
	g.signal(foreign[0], syscall.SIGUSR2)
	waitUntil(t, "the foreign process is dead", func() bool { return !isAlive(foreign[0]) })
	_ = g.stdin.Close()
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v, want 0, told", got)
	}
	for _, pid := range foreign[1:] {
		if !isAlive(pid) {
			t.Errorf("foreign process %d was ended", pid)
		}
	}
	for _, pid := range pids {
		if isAlive(pid) {
			t.Errorf("process %d outlived the guardian", pid)
		}
	}
}

// awaitScans returns once the guardian has begun so many scans, and finished all but the last. Only
// a scan reaps the daemons of a foreign process, which have fallen to the guardian.
func (g *guarded) awaitScans(foreign, scans int) {
	g.t.Helper()
	for range scans {
		g.signal(foreign, syscall.SIGUSR1)
		daemon := g.expectPid("")
		g.signal(daemon, syscall.SIGKILL)
		waitUntil(g.t, "the dead daemon is reaped", func() bool { _, there := readStat(daemon); return !there })
	}
}

// TestNewForeignProcess: what a foreign process has started in the very last moment is spared too.
func TestNewForeignProcess(t *testing.T) {
	g := startGuarded(t, "foreign-guard", "careless")
	first, second := g.line(), g.line()
	if strings.HasPrefix(first, "joined ") {
		first = second
	}
	foreign := number(t, strings.TrimPrefix(first, "foreign "))
	g.signal(foreign, syscall.SIGUSR1)
	started := g.expectPid("")
	_ = g.stdin.Close()
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v, want 0, told", got)
	}
	if !isAlive(foreign) || !isAlive(started) {
		t.Errorf("alive: foreign %t, what it has started just now %t, want both", isAlive(foreign), isAlive(started))
	}
}

// TestForeignProcessOfAShortRun: it is known from the beginning, also when it is another
// kanban-run's.
func TestForeignProcessOfAShortRun(t *testing.T) {
	g := startGuarded(t, "marked-foreign-guard", "leave")
	var foreign int
	for foreign == 0 {
		if pid, ok := strings.CutPrefix(g.line(), "foreign "); ok {
			foreign = number(t, pid)
		}
	}
	_ = g.cmd.Wait()
	if !isAlive(foreign) {
		t.Error("the foreign process was ended")
	}
	_ = syscall.Kill(foreign, syscall.SIGKILL)
}

// TestOrphansBesideForeignProcesses: an agent's orphan that was started just now is told from a
// foreign process by either mark.
func TestOrphansBesideForeignProcesses(t *testing.T) {
	for _, kind := range []string{"bare", "limits", "daemon"} {
		t.Run(kind, func(t *testing.T) {
			g, runner, orphan, foreign := besideForeign(t, kind)
			g.signal(runner, syscall.SIGKILL)
			_ = g.cmd.Wait()
			if isAlive(orphan) || !isAlive(foreign) {
				t.Errorf("alive: orphan %t, foreign %t, want the foreign one only", isAlive(orphan), isAlive(foreign))
			}
		})
	}
}

// TestOrphansAreNotForeign: not even when the guardian scans in the very moment of the runner's
// end.
func TestOrphansAreNotForeign(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	runner, err := forkChild(&Spec{Argv: helperArgv(t, "leak", "daemon"), Env: quiet(t)}, inherited{nil, w, os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	pid := readPid(t, r)
	runner.await()
	subreaper.scanForeign()
	if _, err := runner.reap(); err != nil {
		t.Error(err)
	}
	if err := subreaper.killAllOrphans(); err != nil {
		t.Error(err)
	}
	if isAlive(pid) {
		t.Errorf("process %d was taken for a foreign process", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// besideForeign starts a guardian with a foreign process, whose runner's agent has left an orphan
// of that kind.
func besideForeign(t *testing.T, kind string) (g *guarded, runner, orphan, foreign int) {
	t.Helper()
	g = startGuarded(t, "foreign-guard", "agent", kind)
	for foreign*runner*orphan == 0 {
		line := g.line()
		if pid, ok := strings.CutPrefix(line, "foreign "); ok {
			foreign = number(t, pid)
		} else if pid, ok := strings.CutPrefix(line, "joined "); ok {
			runner = number(t, pid)
		} else {
			orphan = number(t, line)
		}
	}
	t.Cleanup(func() { _ = syscall.Kill(foreign, syscall.SIGKILL) })
	return g, runner, orphan, foreign
}
