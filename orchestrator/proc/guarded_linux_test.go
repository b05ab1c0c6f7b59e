package proc

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// guarded is a guardian with its runner and what they print.
type guarded struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// startGuarded starts a guardian in a group of its own.
func startGuarded(t *testing.T, helper string, words ...string) *guarded {
	t.Helper()
	argv := helperArgv(t, append([]string{helper}, words...)...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(quiet(t), "GREETING=hello")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// A pipe of our own: Wait must not close it before all is read.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	g := &guarded{t, cmd, stdin, bufio.NewReader(r)}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = r.Close()
		if err := subreaper.killAllOrphans(); err != nil { // a runner whose guardian died is our orphan
			t.Error(err)
		}
	})
	return g
}

func (g *guarded) line() string {
	g.t.Helper()
	text, err := g.out.ReadString('\n')
	if err != nil {
		g.t.Fatalf("read from the guardian or its runner: %q, %v", text, err)
	}
	return strings.TrimSuffix(text, "\n")
}

// expect reads a line that begins so and returns the rest.
func (g *guarded) expect(prefix string) string {
	g.t.Helper()
	line := g.line()
	rest, ok := strings.CutPrefix(line, prefix)
	if !ok {
		g.t.Fatalf("read %q, want %q", line, prefix)
	}
	return strings.TrimSpace(rest)
}

func (g *guarded) expectPid(prefix string) int {
	g.t.Helper()
	return number(g.t, g.expect(prefix))
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func readPid(t *testing.T, r io.Reader) int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return number(t, line)
}

// fate reads on to the guardian's end, and returns the numbers that were printed on the way.
func (g *guarded) fate() (Fate, []int) {
	g.t.Helper()
	var pids []int
	for {
		line := g.line()
		text, ok := strings.CutPrefix(line, "fate ")
		if !ok {
			if pid, err := strconv.Atoi(line); err == nil {
				pids = append(pids, pid)
			}
			continue
		}
		text, problem, _ := strings.Cut(text, "} ")
		if problem != "<nil>" {
			g.t.Errorf("Guard = %s", problem)
		}
		var f Fate
		if err := json.Unmarshal([]byte(text+"}"), &f); err != nil {
			g.t.Fatal(err)
		}
		return f, pids
	}
}

func (g *guarded) signal(pid int, s syscall.Signal) {
	g.t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		g.t.Fatal(err)
	}
}

func (g *guarded) order(words string) string {
	g.t.Helper()
	if _, err := io.WriteString(g.stdin, words+"\n"); err != nil {
		g.t.Fatal(err)
	}
	return g.expect("done " + words)
}

// waitUntil looks ever less often whether it holds, and fails after a time that no test needs.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.Now().Add(20 * time.Second)
	for pause := time.Millisecond; !holds(); pause = min(pause*3/2, 20*time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("after 20 s it does not hold that %s", what)
		}
		time.Sleep(pause)
	}
}

func isAlive(pid int) bool {
	s, ok := readStat(pid)
	return ok && !s.dead
}
