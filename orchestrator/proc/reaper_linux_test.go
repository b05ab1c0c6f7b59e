package proc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// kinds are the ways out of a process group and away from a mark; see leave.
var kinds = []string{"child", "group", "session", "bare", "limits", "nothing", "unmarked", "daemon", "headless", "chain"}

// TestNothingIsLeft: the ways out of a process group, each after a normal end, a stop, a timeout
// and a kill. All of them hold the command's standard output open, which must not hold Run up
// either.
func TestNothingIsLeft(t *testing.T) {
	for _, kind := range kinds {
		for _, end := range []string{"normal", "stop", "kill", "timeout"} {
			t.Run(kind+", "+end, func(t *testing.T) {
				pids := leaveAndEnd(t, kind, end)
				for _, pid := range pids {
					if alive(t, pid) {
						t.Errorf("process %s outlived the command", pid)
					}
				}
				if left, err := listChildren(os.Getpid()); err != nil || len(left) > 0 {
					t.Errorf("children = %v, %v, want none, not even a zombie", left, err)
				}
			})
		}
	}
}

// leaveAndEnd returns the numbers of the processes that were left behind. A command is ended once
// it has left one.
func leaveAndEnd(t *testing.T, kind, end string) []string {
	t.Helper()
	left := make(chan struct{})
	out := &watcher{want: "\n", saw: func() { close(left) }}
	spec := &Spec{Argv: helperArgv(t, "leak-and-hang", kind), Env: quiet(t), Stdout: out, Timeout: time.Hour, Grace: time.Hour}
	if end == "normal" {
		spec.Argv = helperArgv(t, "leak", kind)
	}
	p, err := Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	<-left
	switch end {
	case "stop":
		p.Stop()
	case "kill":
		p.Kill()
	case "timeout":
		p.Limit(time.Millisecond)
	}
	exit, err := p.Wait()
	if err != nil || exit.TimedOut != (end == "timeout") || exit.Stopped != (end == "stop" || end == "kill") {
		t.Fatalf("Wait = %+v, %v, want the end %s", exit, err, end)
	}
	return strings.Fields(out.buf.String())
}

func alive(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("%q is no pid", pid)
	}
	return syscall.Kill(n, 0) == nil
}

// TestSideBySide: what one command left behind is not swept away with another command's, and either
// mark is enough to tell.
func TestSideBySide(t *testing.T) {
	for _, kind := range []string{"daemon", "bare", "limits", "group", "headless", "headless-limits", "heavy"} {
		t.Run(kind, func(t *testing.T) { sideBySide(t, kind) })
	}
}

func sideBySide(t *testing.T, kind string) {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error)
	first := &watcher{want: "\n", saw: func() { close(ready) }}
	argv := helperArgv(t, "leak-and-hang", kind)
	go func() {
		_, err := Run(stop, ctx, &Spec{Argv: argv, Env: quiet(t), Stdout: first, Grace: time.Hour})
		ended <- err
	}()
	<-ready
	var second bytes.Buffer
	if _, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "leak", kind), Env: quiet(t), Stdout: &second}); err != nil {
		t.Fatal(err)
	}
	first.mu.Lock()
	mine := strings.TrimSpace(first.buf.String())
	first.mu.Unlock()
	if !alive(t, mine) {
		t.Errorf("process %s was ended with another command", mine)
	}
	if other := strings.TrimSpace(second.String()); alive(t, other) {
		t.Errorf("process %s outlived its command because another one runs", other)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if alive(t, mine) {
		t.Errorf("process %s outlived its command", mine)
	}
}

// TestUnadopted: a program that did not call Adopt keeps its own children.
func TestUnadopted(t *testing.T) {
	argv := helperArgv(t, "unadopted")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = quiet(t)
	if out, err := cmd.Output(); err != nil || string(out) != "exit status 3 <nil> <nil>\n" {
		t.Errorf("Run and Wait = %s, %v, want normal ends", out, err)
	}
}

// TestKillTree: what left the group goes with the leader, not after it.
func TestKillTree(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := forkChild(&Spec{Argv: helperArgv(t, "leak-and-hang", "session"), Env: quiet(t)}, inherited{nil, w, os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	pid := readPid(t, r)
	c.killTree()
	c.await()
	waitUntil(t, "the process that has left the group is dead", func() bool { return !isAlive(pid) })
	if _, err := c.reap(); err != nil {
		t.Error(err)
	}
	if err := c.sweep(); err != nil {
		t.Error(err)
	}
}

// TestListChildren: both ways to list children agree.
func TestListChildren(t *testing.T) {
	argv := helperArgv(t, "cat")
	cmd := exec.Command(argv[0], argv[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]func(int) ([]int, error){"children": listChildren, "scan": scanChildren} {
		if got, err := list(os.Getpid()); err != nil || len(got) != 1 || got[0] != cmd.Process.Pid {
			t.Errorf("%s() = %v, %v, want [%d]", name, got, err, cmd.Process.Pid)
		}
	}
	if s, ok := readStat(cmd.Process.Pid); !ok || s.dead || s.parent != os.Getpid() || s.born > ticksSinceBoot() || s.born+6000 < ticksSinceBoot() {
		t.Errorf("readStat = %+v, %t, want a living child that was born within the last minute, %d", s, ok, ticksSinceBoot())
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if s, ok := readStat(cmd.Process.Pid); ok {
		t.Errorf("readStat(gone) = %+v", s)
	}
}

// TestNoDescriptorIsLeft: a run of many steps must not run out of files.
func TestNoDescriptorIsLeft(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	argv := helperArgv(t, "exit", "0")
	run := func(argv0 string) {
		_, _ = Run(ctx, ctx, &Spec{Argv: append([]string{argv0}, argv[1:]...), Env: quiet(t), Stdin: []byte("x")})
	}
	run(argv[0])
	before := count()
	for range 20 {
		run(argv[0])
		run("/does/not/exist")
	}
	if after := count(); after > before {
		t.Errorf("%d open files after 40 commands, want %d as before", after, before)
	}
}

func BenchmarkRun(b *testing.B) {
	argv := helperArgv(b, "exit", "0")
	for b.Loop() {
		if _, err := Run(ctx, ctx, &Spec{Argv: argv}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestStartAtTheLimitOfFiles: what fork opens over the limit is a bad descriptor to the new
// process. The command is not at fault.
func TestStartAtTheLimitOfFiles(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	high, err := unix.FcntlInt(null.Fd(), unix.F_DUPFD_CLOEXEC, 200)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(high), "high")
	defer file.Close()
	var was unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(high) + 1, Max: was.Max}, nil); err != nil {
		t.Fatal(err)
	}
	_, err = startChild(ctx, &Spec{Argv: helperArgv(t, "cat"), Env: quiet(t)}, inherited{file, file, file})
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &was, nil); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EMFILE) || errors.As(err, new(*StartError)) {
		t.Errorf("start with no descriptor left = %v, want %v", err, syscall.EMFILE)
	}
}
