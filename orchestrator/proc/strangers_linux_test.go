package proc

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStrangers: what the guardian's process had before it was a guardian is nobody's business, nor is what it starts, and yet
// nothing of the runner's is left.
func TestStrangers(t *testing.T) {
	g := startGuarded(t, "stranger-guard", "careless", "nothing", "bare", "limits", "joined")
	var strangers, pids []int
	for len(strangers)+len(pids) < 5 || len(pids) < 4 {
		line := g.line()
		if pid, ok := strings.CutPrefix(line, "stranger "); ok {
			strangers = append(strangers, number(t, pid))
		} else if pid, ok := strings.CutPrefix(line, "joined "); !ok {
			pids = append(pids, number(t, line))
		} else {
			t.Fatalf("the runner %s joined before all", pid)
		}
	}
	g.expect("joined ")
	t.Cleanup(func() {
		for _, pid := range strangers {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	g.signal(strangers[0], syscall.SIGUSR1)
	strangers = append(strangers, g.expectPid(""))
	time.Sleep(4 * strangersPause) // until the guardian has looked at them
	g.signal(strangers[0], syscall.SIGUSR2)
	for isAlive(strangers[0]) { // its daemon has fallen to the guardian
		time.Sleep(time.Millisecond)
	}
	_ = g.stdin.Close()
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v, want 0, told", got)
	}
	for _, pid := range strangers[1:] {
		if !isAlive(pid) {
			t.Errorf("stranger %d was ended", pid)
		}
	}
	for _, pid := range pids {
		if isAlive(pid) {
			t.Errorf("process %d outlived the guardian", pid)
		}
	}
}

// TestNewbornStranger: what a stranger has started in the very last moment is spared too.
func TestNewbornStranger(t *testing.T) {
	g := startGuarded(t, "stranger-guard", "careless")
	first, second := g.line(), g.line()
	if strings.HasPrefix(first, "joined ") {
		first = second
	}
	stranger := number(t, strings.TrimPrefix(first, "stranger "))
	g.signal(stranger, syscall.SIGUSR1)
	newborn := g.expectPid("")
	_ = g.stdin.Close()
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v, want 0, told", got)
	}
	if !isAlive(stranger) || !isAlive(newborn) {
		t.Errorf("alive: stranger %t, what it has started just now %t, want both", isAlive(stranger), isAlive(newborn))
	}
}

// TestStrangerOfAShortRun: it is known from the beginning, also when it is another kanban-run's.
func TestStrangerOfAShortRun(t *testing.T) {
	g := startGuarded(t, "marked-stranger-guard", "leave")
	var stranger int
	for stranger == 0 {
		if pid, ok := strings.CutPrefix(g.line(), "stranger "); ok {
			stranger = number(t, pid)
		}
	}
	_ = g.cmd.Wait()
	if !isAlive(stranger) {
		t.Error("the stranger was ended")
	}
	_ = syscall.Kill(stranger, syscall.SIGKILL)
}

// TestOrphansBesideStrangers: an agent's orphan that was started just now is told from a stranger's by either mark.
func TestOrphansBesideStrangers(t *testing.T) {
	for _, kind := range []string{"bare", "limits", "daemon"} {
		t.Run(kind, func(t *testing.T) {
			g, runner, orphan, stranger := besideStranger(t, kind)
			g.signal(runner, syscall.SIGKILL)
			_ = g.cmd.Wait()
			if isAlive(orphan) || !isAlive(stranger) {
				t.Errorf("alive: orphan %t, stranger %t, want the stranger only", isAlive(orphan), isAlive(stranger))
			}
		})
	}
}

// TestOrphansAreNoStrangers: not even when the guardian looks for strangers in the very moment of the runner's end.
func TestOrphansAreNoStrangers(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	runner, err := spawn(&Spec{Argv: helperArgv(t, "leak", "daemon"), Env: quiet(t)}, inherited{^uintptr(0), w.Fd(), os.Stderr.Fd()})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	pid := readPid(t, r)
	runner.await()
	household.look()
	if _, err := runner.reap(); err != nil {
		t.Error(err)
	}
	if err := household.endAll(); err != nil {
		t.Error(err)
	}
	if isAlive(pid) {
		t.Errorf("process %d was taken for a stranger", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// besideStranger starts a guardian with a stranger, whose runner's agent has left an orphan of that kind.
func besideStranger(t *testing.T, kind string) (g *guarded, runner, orphan, stranger int) {
	t.Helper()
	g = startGuarded(t, "stranger-guard", "agent", kind)
	for stranger*runner*orphan == 0 {
		line := g.line()
		if pid, ok := strings.CutPrefix(line, "stranger "); ok {
			stranger = number(t, pid)
		} else if pid, ok := strings.CutPrefix(line, "joined "); ok {
			runner = number(t, pid)
		} else {
			orphan = number(t, line)
		}
	}
	t.Cleanup(func() { _ = syscall.Kill(stranger, syscall.SIGKILL) })
	return g, runner, orphan, stranger
}
