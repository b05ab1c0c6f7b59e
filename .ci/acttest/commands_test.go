//go:build linux

package acttest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// waitFor FILE waits until an agent has made the file.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s does not appear", args[0])
		}
	}
}

// grace bounds the end of a cancelled step. GitHub's runner kills it after 7.5 s.
const grace = 7 * time.Second

// cancelStep is the command cancel [kill]. It sends SIGINT to the first process of a step and to no
// other, as GitHub's runner does for a cancelled job, or the SIGKILL that follows.
func cancelStep(ts *testscript.TestScript, neg bool, args []string) {
	signal := unix.SIGINT
	if len(args) == 1 && args[0] == "kill" {
		signal = unix.SIGKILL
	} else if neg || len(args) > 0 {
		ts.Fatalf("usage: cancel [kill]")
	}
	step := runningStep(ts)
	defer unix.Close(step)
	start := time.Now()
	ts.Check(unix.PidfdSendSignal(step, signal, nil, 0))
	if !waitForEnd(step, grace) {
		ts.Fatalf("the step still runs %v after it was cancelled", grace)
	}
	ts.Logf("the step ended after %v", time.Since(start).Round(time.Millisecond))
}

// waitForEnd waits for the process of the descriptor, which need not be a child.
func waitForEnd(process int, limit time.Duration) bool {
	poll := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	for deadline := time.Now().Add(limit); ; {
		n, err := unix.Poll(poll, int(time.Until(deadline).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 1
		}
	}
}

// runningStep returns the first process of the step that the script's act runs. It must be
// kanban-run itself: every wrapper must have replaced itself by exec.
func runningStep(ts *testscript.TestScript) int {
	for _, p := range processes(ts) {
		if p.exe != ts.Getenv("ACT") || !p.hasVariable("HOME", ts.Getenv("HOME")) {
			continue
		}
		for _, child := range processes(ts) {
			if child.parent != p.id {
				continue
			}
			if !strings.Contains(child.commandLine, "/kanban-run\x00run\x00") {
				ts.Fatalf("the first process of the step is %q, not kanban-run", child.commandLine)
			}
			fd, err := unix.PidfdOpen(child.id, 0)
			ts.Check(err)
			return fd
		}
	}
	ts.Fatalf("act runs no step")
	return -1
}

// checkGone is the command gone TEXT: no process has TEXT in its command line.
func checkGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone TEXT")
	}
	for _, p := range processes(ts) {
		if strings.Contains(p.commandLine, args[0]) {
			ts.Fatalf("process %d is still there: %q", p.id, p.commandLine)
		}
	}
}

type process struct {
	id, parent  int
	exe         string
	commandLine string
}

// processes lists all processes but this one and those that end meanwhile.
func processes(ts *testscript.TestScript) []process {
	entries, err := os.ReadDir("/proc")
	ts.Check(err)
	var list []process
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil || id == os.Getpid() {
			continue
		}
		p := process{id: id}
		p.exe, _ = os.Readlink(p.file("exe")) // kernel threads have none
		line, err := os.ReadFile(p.file("cmdline"))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(p.file("stat"))
		if err != nil {
			continue
		}
		_, fields, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), ") ")
		if _, err := fmt.Sscanf(fields, "%1s %d", new(string), &p.parent); err != nil {
			ts.Fatalf("%s: %v", p.file("stat"), err)
		}
		p.commandLine = string(line)
		list = append(list, p)
	}
	return list
}

func (p process) file(name string) string { return filepath.Join("/proc", strconv.Itoa(p.id), name) }

func (p process) hasVariable(name, value string) bool {
	environ, err := os.ReadFile(p.file("environ"))
	return err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+name+"="+value+"\x00"))
}
