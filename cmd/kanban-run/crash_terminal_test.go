//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSignalsFromTerminal: one Ctrl-C reaches the guardian and the runner, and counts once. The
// agent, which is in a session of its own, is asked to end, once.
func TestSignalsFromTerminal(t *testing.T) {
	t.Parallel()
	s := signalSite(t)
	keyboard, screen := openTerminal(t)
	cmd := s.command(nil, append(s.args, "kanban.yaml")...)
	cmd.Stdout, cmd.Stderr = screen, screen
	run := s.launchAt(screen, cmd)
	s.await("calls")
	_, err := keyboard.WriteString("\x03")
	must(t, err)
	began := time.Now()
	run.ends(t, exitInterrupted)
	if got := s.read("signals"); got != "TERM\n" {
		t.Errorf("the agent got %q, want one TERM", got)
	}
	if took := time.Since(began); took > stuckAfter/2 {
		t.Errorf("it took %v to end", took)
	}
	s.nobodyIsLeft()
}

// TestSignalsToOneProcess: what `kill` sends to the guardian alone counts as
// what a terminal sends to all.
func TestSignalsToOneProcess(t *testing.T) {
	t.Parallel()
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated, syscall.SIGHUP: exitTerminated} {
		t.Run(signal.String(), func(t *testing.T) {
			s := signalSite(t)
			run := s.start(nil)
			s.await("calls")
			signalTo(t, run.guardian.pid, signal)
			run.ends(t, want)
			if got := s.read("signals"); got != "TERM\n" {
				t.Errorf("the agent got %q, want one TERM", got)
			}
			s.nobodyIsLeft()
		})
	}
}

// TestClosedTerminal: SIGHUP to the foreground group stops the run once, as Ctrl-C does.
func TestClosedTerminal(t *testing.T) {
	t.Parallel()
	s := signalSite(t)
	run := s.start(nil)
	s.await("calls")
	signalTo(t, -run.guardian.pid, syscall.SIGHUP)
	run.ends(t, exitTerminated)
	if got := s.read("signals"); got != "TERM\n" {
		t.Errorf("the agent got %q, want one TERM", got)
	}
	s.nobodyIsLeft()
}

// TestPaused: Ctrl-Z stops the run and its agent, whichever process it reaches, and fg goes on
// with both. The pause is no part of the agent's time.
func TestPaused(t *testing.T) {
	const pause = 2 * time.Second // as long as the agent may take
	t.Parallel()
	signals := func(who func(r *launched) int) func(*testing.T, *launched, *os.File, syscall.Signal) {
		return func(t *testing.T, r *launched, _ *os.File, s syscall.Signal) { signalTo(t, who(r), s) }
	}
	for name, send := range map[string]func(*testing.T, *launched, *os.File, syscall.Signal){
		"the group":    signals(func(r *launched) int { return -r.guardian.pid }),
		"the guardian": signals(func(r *launched) int { return r.guardian.pid }),
		"the terminal": func(t *testing.T, r *launched, keyboard *os.File, s syscall.Signal) {
			if s == syscall.SIGCONT { // fg sends it
				signalTo(t, -r.guardian.pid, s)
				return
			}
			_, err := keyboard.WriteString("\x1a")
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, built(t, buildPlain), 1)
			s.write("tick.sh", "i=0; while [ $i -lt 10 ]; do i=$((i+1)); echo $i >>ticks; sleep 0.05; done; echo '{\"status\":\"ok\",\"message\":\"m\"}'\n")
			s.args = append(s.args, "--exec", "Implementor=sh tick.sh", "--timeout", pause.String(), "--max-retries", "0")
			keyboard, screen := openTerminal(t)
			run := s.launchAt(screen, s.command(nil, append(s.args, "kanban.yaml")...))
			s.await("ticks")
			send(t, run, keyboard, syscall.SIGTSTP)
			if !within(stuckAfter, func() bool { return run.guardian.halted() }) {
				t.Fatal("the guardian is not stopped: the shell would wait for it")
			}
			runner, _ := runnerOf(run.guardian.pid)
			if !within(stuckAfter, func() bool { return runner.halted() }) {
				t.Fatal("the runner is not stopped")
			}
			before := s.read("ticks")
			time.Sleep(pause)
			if after := s.read("ticks"); after != before {
				t.Errorf("the agent went on: %q, then %q", before, after)
			}
			send(t, run, keyboard, syscall.SIGCONT)
			run.ends(t, exitComplete)
			s.nobodyIsLeft()
			out := s.read("output")
			took := regexp.MustCompile(`Implementor ok in ([0-9.ms]+)`).FindStringSubmatch(out)
			if took == nil {
				t.Fatalf("the agent did not end well:\n%s", out)
			}
			if d, err := time.ParseDuration(took[1]); err != nil || d < 400*time.Millisecond || d >= pause {
				t.Errorf("the agent took %v (%v), and it worked for half a second: the pause counts\n%s", d, err, out)
			}
		})
	}
}

// TestBrowserIsDetached: a Ctrl-C that ends the page does not end the browser, which is in another
// session than this process. The program that opens it is none of the agents', gets no secret, and
// does not speak for a person.
func TestBrowserIsDetached(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	script := fmt.Sprintf("#!/bin/sh\nenv >%s.env; ulimit -f >>%s.env\ncut -d' ' -f6 /proc/$$/stat >%s.new && mv %s.new %s\n", seen, seen, seen, seen, seen)
	must(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755))
	agents := filepath.Join(t.TempDir(), "bin")
	must(t, os.Mkdir(agents, 0o755))
	must(t, os.WriteFile(filepath.Join(agents, "xdg-open"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	t.Setenv("PATH", agents+":"+dir+":"+os.Getenv("PATH"))
	t.Setenv("MY_TOKEN", "hunter2-hunter2")
	forget, err := openBrowser("http://127.0.0.1/", os.Environ(), []string{filepath.Dir(agents)}, func(err error) { t.Error(err) })
	must(t, err)
	defer forget()
	if !within(stuckAfter, func() bool { return exists(seen) }) {
		t.Fatal("no browser was opened")
	}
	text, err := os.ReadFile(seen)
	must(t, err)
	own, err := unix.Getsid(0)
	must(t, err)
	if got := strings.TrimSpace(string(text)); got == "" || got == fmt.Sprint(own) {
		t.Errorf("the browser is in session %s, and this process in %d", got, own)
	}
	text, err = os.ReadFile(seen + ".env")
	must(t, err)
	if env := string(text); strings.Contains(env, "hunter2") || strings.Contains(env, agents) || !strings.Contains(env, "KANBAN_RUN_MARK=") {
		t.Errorf("the browser has a secret, a PATH of agents, or no mark:\n%s", env)
	}
	if strings.Contains(string(text), "unlimited") {
		t.Error("the browser could lose its mark by clearing its environment")
	}
}

// TestStoppedGuardian: an agent that stops the guardian does not keep the command from returning,
// nor from hearing a signal.
func TestStoppedGuardian(t *testing.T) {
	t.Parallel()
	s := newSite(t, built(t, buildPlain), 1)
	s.write("stop.sh", "while ! read pid <guardian; do sleep 0.05; done; kill -STOP $pid; touch stopped; sleep 0.3; echo '{\"status\":\"ok\",\"message\":\"m\"}'\n")
	s.args = append(s.args, "--exec", "Implementor=sh stop.sh")
	s.write("guardian", "")
	cmd := s.command(nil, append(s.args, "kanban.yaml")...)
	run := s.launch(cmd)
	s.write("guardian", fmt.Sprintln(run.guardian.pid))
	s.await("stopped")
	run.ends(t, exitComplete)
	s.nobodyIsLeft()
}

// TestStoppedAndContinued: a stop that no process can take holds the run, not its
// agent, and the run goes on.
func TestStoppedAndContinued(t *testing.T) {
	t.Parallel()
	s := newSite(t, built(t, buildPlain), 2)
	s.env = []string{"CRASH_NAP=0.05"}
	run := s.start(nil)
	s.await("calls")
	for range 3 {
		signalTo(t, -run.guardian.pid, syscall.SIGSTOP)
		time.Sleep(60 * time.Millisecond) // longer than the agent works
		signalTo(t, -run.guardian.pid, syscall.SIGCONT)
		time.Sleep(5 * time.Millisecond)
	}
	s.completes(run, history{}, 2)
}

// signalSite has an agent that writes down its signals.
func signalSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, built(t, buildPlain), 1)
	s.args = []string{"--exec", "sh " + scriptOf(t, "stubborn.sh") + " " + s.marker}
	s.env = []string{"KANBAN_RUN_GRACE=5s"}
	return s
}

// launchAt starts a command whose controlling terminal is the given one. It closes our end of it.
func (s *site) launchAt(screen *os.File, cmd *exec.Cmd) *launched {
	s.t.Helper()
	cmd.Stdin = screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	run := s.launch(cmd)
	must(s.t, screen.Close())
	return run
}

// openTerminal makes a terminal and reads away what is written to its screen.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	return openTerminalTo(t, io.Discard)
}

// openTerminalTo is openTerminal, with what is drawn on the screen.
func openTerminalTo(t *testing.T, drawn io.Writer) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	fd := int(keyboard.Fd())
	must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	must(t, err)
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	go func() { _, _ = io.Copy(drawn, keyboard) }() // ends when the screen is closed everywhere
	return keyboard, screen
}

// TestUnreadOutput: output that nothing reads holds up a run, and no signal.
func TestUnreadOutput(t *testing.T) {
	t.Parallel()
	for _, signals := range []int{1, 2} {
		t.Run(fmt.Sprint(signals), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, built(t, buildPlain), 40)
			reader, writer, err := os.Pipe()
			must(t, err)
			defer reader.Close()
			_, err = unix.FcntlInt(writer.Fd(), unix.F_SETPIPE_SZ, 4096)
			must(t, err)
			cmd := s.command(nil, append(s.args, "--json", "kanban.yaml")...)
			cmd.Stdout = writer
			run := s.launch(cmd)
			must(t, writer.Close())
			full := within(stuckAfter, func() bool { // a line that does not fit any more is held up as a whole
				queued, err := unix.IoctlGetInt(int(reader.Fd()), unix.TIOCINQ)
				return err == nil && queued > 1000
			})
			if !full {
				t.Fatal("the run prints too little to be held up")
			}
			runner, _ := runnerOf(run.guardian.pid)
			if !within(stuckAfter, func() bool { return runner.writes() }) {
				t.Fatal("no write is held up")
			}
			began := time.Now()
			for range signals {
				signalTo(t, run.guardian.pid, syscall.SIGTERM)
				// A second signal of one kind is lost while the first one has not been taken.
				within(stuckAfter, func() bool { return !run.running() || !run.guardian.signalled() })
			}
			run.ends(t, exitTerminated)
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("it took %v to end", took)
			}
			s.nobodyIsLeft()
		})
	}
}
