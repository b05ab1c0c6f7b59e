//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSignalsFromTerminal: one Ctrl-C reaches the guardian and the runner, and counts once. The agent, which is in a group of its
// own, is asked to end, once.
func TestSignalsFromTerminal(t *testing.T) {
	s := signalSite(t)
	keyboard, screen := openTerminal(t)
	cmd := s.command(nil, append(s.args, "kanban.yaml")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	run := s.launch(cmd)
	must(t, screen.Close())
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

// TestSignalsToOneProcess: what `kill` sends to the guardian alone counts as what a terminal sends to all.
func TestSignalsToOneProcess(t *testing.T) {
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

// TestStoppedAndContinued: Ctrl-Z holds the run, not its agent, and fg goes on with it.
func TestStoppedAndContinued(t *testing.T) {
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

// openTerminal makes a terminal and reads away what is written to its screen.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
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
	go func() { _, _ = io.Copy(io.Discard, keyboard) }() // ends when the screen is closed everywhere
	return keyboard, screen
}

// TestUnreadOutput: output that nothing reads holds up a run, and no signal.
func TestUnreadOutput(t *testing.T) {
	for _, signals := range []int{1, 2} {
		t.Run(fmt.Sprint(signals), func(t *testing.T) {
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
			full := within(stuckAfter, func() bool {
				queued, err := unix.IoctlGetInt(int(reader.Fd()), unix.TIOCINQ)
				return err == nil && queued > 3000
			})
			if !full {
				t.Fatal("the run prints too little to be held up")
			}
			time.Sleep(200 * time.Millisecond) // for a write that does not fit
			began := time.Now()
			for range signals {
				signalTo(t, run.guardian.pid, syscall.SIGTERM)
				time.Sleep(500 * time.Millisecond)
			}
			run.ends(t, exitTerminated)
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("it took %v to end", took)
			}
			s.nobodyIsLeft()
		})
	}
}
