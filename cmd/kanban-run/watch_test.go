//go:build linux

package main

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// waitsForGo is an agent that works until there is a file go.
const waitsForGo = "cat > /dev/null; echo at work > began; for i in $(seq 400); do [ -e go ] && break; sleep 0.05; done; echo '{\"status\":\"ok\",\"message\":\"m\"}'\n"

// TestWatchStatus: status --watch draws a run of another process on a terminal, and leaves the
// last status behind when the run ends.
func TestWatchStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t, built(t, buildPlain), 2)
	s.write("wait.sh", waitsForGo)
	s.args = append(s.args, "--exec", "Implementor=sh wait.sh")
	run := s.start(nil)
	s.await("began")
	seen := &display{vt: vt10x.New(vt10x.WithSize(80, 24))}
	keyboard, screen := openTerminalTo(t, seen)
	must(t, unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	cmd := s.command(nil, "status", "--watch", "kanban.yaml")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	watch := s.launch(cmd)
	must(t, screen.Close())
	if !within(stuckAfter, func() bool {
		return seen.shows("kanban-run status --watch kanban.yaml  ") && seen.shows("▸ kanban.yaml is at work: step 1, 0 of 2 tasks done") && seen.shows("  now      step 1: tasks/1.md, Implementor") &&
			seen.shows("  ▸ tasks/1.md  Implementor, 1 attempt") && seen.shows("    tasks/2.md")
	}) {
		t.Fatalf("it does not show the run:\n%s", seen)
	}
	if strings.Contains(seen.String(), "journal") || strings.Contains(seen.String(), "owner") {
		t.Errorf("it shows what kanban-run notes for itself:\n%s", seen)
	}
	s.write("go", "")
	run.ends(t, exitComplete)
	watch.ends(t, exitComplete)
	if !within(stuckAfter, func() bool { // the terminal may be a moment behind the program
		return seen.shows("✓ kanban.yaml is complete: 2 of 2 tasks done") && seen.shows("✓ tasks/2.md")
	}) {
		t.Errorf("the last status is not left behind:\n%s", seen)
	}
	s.args = nil
	if code := s.launch(s.command(nil, "status", "--watch", "kanban.yaml")).wait(); code != exitInvalid {
		t.Errorf("in a pipe it ends with %d", code)
	}
}

// TestLeaveWatch: q leaves status --watch, with the last status, and touches nothing.
func TestLeaveWatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, built(t, buildPlain), 1)
	s.write("wait.sh", waitsForGo)
	s.args = append(s.args, "--exec", "Implementor=sh wait.sh")
	run := s.start(nil)
	s.await("began")
	for _, key := range []string{"q", "\x03"} {
		seen := &display{vt: vt10x.New(vt10x.WithSize(80, 24))}
		keyboard, screen := openTerminalTo(t, seen)
		cmd := s.command(nil, "status", "--watch", "kanban.yaml")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
		watch := s.launch(cmd)
		must(t, screen.Close())
		if !within(stuckAfter, func() bool { return seen.shows("  ▸ tasks/1.md  Implementor, 1 attempt") }) {
			t.Fatalf("it does not show the run:\n%s", seen)
		}
		_, err := keyboard.WriteString("x" + key)
		must(t, err)
		watch.ends(t, exitComplete)
		if !within(stuckAfter, func() bool { return seen.shows("▸ kanban.yaml is at work") }) {
			t.Errorf("%q leaves\n%s", key, seen)
		}
	}
	s.write("go", "")
	run.ends(t, exitComplete)
}

// display is what a terminal shows.
type display struct {
	mu sync.Mutex
	vt vt10x.Terminal
}

// Write draws what a program prints.
func (d *display) Write(text []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.vt.Write(text)
}

func (d *display) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.vt.String()
}

func (d *display) shows(text string) bool { return strings.Contains(d.String(), text) }
