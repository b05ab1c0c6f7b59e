//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is one process for ever: numbers are used again.
type process struct {
	pid   int
	start string // clock ticks since boot
}

func (p process) String() string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	return fmt.Sprintf("%d (%s)", p.pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}

// look returns a process as it is now; false when it is gone or a zombie.
func look(pid int) (p process, parent int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, 0, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	parent, err = strconv.Atoi(fields[1])
	dead := fields[0] == "Z" || fields[0] == "X"
	return process{pid, fields[19]}, parent, err == nil && !dead
}

func (p process) alive() bool {
	now, _, ok := look(p.pid)
	return ok && now == p
}

// halted says whether it is stopped, until SIGCONT.
func (p process) halted() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	return err == nil && text[bytes.LastIndexByte(text, ')')+2] == 'T'
}

// writes reports whether one of its threads is held up by a write to a pipe that is full.
func (p process) writes() bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/syscall", p.pid))
	return slices.ContainsFunc(threads, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.HasPrefix(string(text), fmt.Sprint(syscall.SYS_WRITE, " "))
	})
}

// signalled reports whether a signal waits to be taken.
func (p process) signalled() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	for line := range strings.Lines(string(text)) {
		if name, set, _ := strings.Cut(strings.TrimSpace(line), ":"); (name == "SigPnd" || name == "ShdPnd") && strings.Trim(set, "\t 0") != "" {
			return true
		}
	}
	return err != nil
}

// kill sends SIGKILL to that very process.
func (p process) kill() { p.signal(syscall.SIGKILL) }

func (p process) signal(s syscall.Signal) {
	handle, err := os.FindProcess(p.pid) // a pidfd
	if err != nil {
		return
	}
	if p.alive() {
		_ = handle.Signal(s)
	}
	_ = handle.Release()
}

// stop sends SIGSTOP and waits until every thread has come to a halt, or the process has ended:
// one that runs on another processor goes on for a moment.
func (p process) stop() {
	p.signal(syscall.SIGSTOP)
	within(stuckAfter, func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/stat", p.pid))
		return !slices.ContainsFunc(threads, func(stat string) bool {
			text, err := os.ReadFile(stat)
			if err != nil {
				return false
			}
			state := text[bytes.LastIndexByte(text, ')')+2]
			return state != 'T' && state != 'Z' && state != 'X'
		})
	})
}

// bearers lists the live processes that have the marker in their arguments or in their environment.
func bearers(marker string) []process {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	var found []process
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() || !bears(folder, marker) {
			continue
		}
		if p, _, ok := look(pid); ok {
			found = append(found, p)
		}
	}
	return found
}

func bears(folder, marker string) bool {
	line, err := os.ReadFile(folder + "/cmdline")
	if err != nil || len(line) == 0 { // a zombie, or a thread of the kernel
		return false
	}
	if bytes.Contains(line, []byte(marker)) {
		return true
	}
	environ, err := os.ReadFile(folder + "/environ")
	return err == nil && bytes.Contains(environ, []byte(marker))
}

// endBearers ends all that a test has started; a chain of short-lived processes has to be caught.
func endBearers(t testing.TB, marker string) {
	t.Helper()
	for over := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		left := bearers(marker)
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			p.kill()
		}
		if time.Now().After(over) {
			t.Errorf("these processes cannot be ended: %v", left)
			return
		}
	}
}

// within polls until done returns true, and reports whether it did. It polls less often the longer it
// takes, since most of these looks go over all processes.
func within(limit time.Duration, done func() bool) bool {
	pause := time.Millisecond
	for over := time.Now().Add(limit); ; time.Sleep(pause) {
		if done() {
			return true
		}
		if time.Now().After(over) {
			return false
		}
		pause = min(pause*3/2, 20*time.Millisecond)
	}
}

// runnerCommand is the first argument of the runner.
const runnerCommand = "guarded-runner"

// victim says which half of the program is killed.
type victim string

const (
	runnerOnly   victim = "runner"
	guardianOnly victim = "guardian"
	bothHalves   victim = "both"
)

// runnerOf is the child of a guardian that is the runner, once it is there.
func runnerOf(guardian int) (process, bool) {
	for _, pid := range childrenOf(guardian) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(line), "\x00")
		if p, parent, ok := look(pid); ok && parent == guardian && slices.Index(args, runnerCommand) == 1 {
			return p, true
		}
	}
	return process{}, false
}

func childrenOf(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var pids []int
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// signalTo sends a signal to a process that the test has started and not waited for yet.
func signalTo(t testing.TB, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatalf("signal %v to %d: %v", s, pid, err)
	}
}

// TestOnceKilled: what a single call has left, both halves of which were killed, is ended by the
// next start, with or without a board. A call that is under way is left alone.
func TestOnceKilled(t *testing.T) {
	t.Parallel()
	for _, next := range [][]string{{"once", "--role", "Architect", "x"}, {"kanban.yaml"}} {
		t.Run(next[0], func(t *testing.T) {
			s := newSite(t, built(t, buildPlain), 1)
			s.write("hang.sh", "echo $$ >\"up-$1\"; exec sleep 1000\n")
			call := func(name string) (*launched, int) {
				run := s.launch(s.command(nil, "once", "--role", "Architect", "--exec", "sh hang.sh "+name, "x"))
				s.await("up-" + name)
				var pid int
				within(stuckAfter, func() bool { n, _ := fmt.Sscan(s.read("up-"+name), &pid); return n == 1 })
				return run, pid
			}
			killed, left := call("killed")
			_, busy := call("busy")
			killed.kill(bothHalves)
			killed.wait()
			if _, _, ok := look(left); !ok {
				t.Skip("the agent has ended with its runner")
			}
			s.launch(s.command(nil, append(next, "--agent", "stub")...)).wait()
			if _, _, ok := look(left); ok {
				t.Errorf("the agent of the killed call is alive after the next start\n%s", s.read("output"))
			}
			if _, _, ok := look(busy); !ok {
				t.Errorf("the agent of the other call was ended\n%s", s.read("output"))
			}
			if notes, _ := filepath.Glob(s.path(".kanban-run/runs/once/calls/*")); len(notes) != 1 {
				t.Errorf("the notes of calls are %q, want that of the call under way", notes)
			}
		})
	}
}
