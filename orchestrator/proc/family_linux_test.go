package proc

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNobodyIsLeft: the ways out of a process group, each after a normal end, a stop, a timeout and a kill. All of them hold
// the command's standard output open, which must not hold Run up either.
func TestNobodyIsLeft(t *testing.T) {
	for _, kind := range []string{"child", "group", "session", "bare", "daemon", "chain"} {
		for _, end := range []string{"normal", "stop", "kill", "timeout"} {
			t.Run(kind+", "+end, func(t *testing.T) {
				pids := leaveAndEnd(t, kind, end, 250*time.Millisecond)
				for _, pid := range pids {
					if alive(t, pid) {
						t.Errorf("process %s outlived the command", pid)
					}
				}
				if left := children(os.Getpid()); len(left) > 0 {
					t.Errorf("children = %v, want none, not even a zombie", left)
				}
			})
		}
	}
}

// leaveAndEnd returns the numbers of the processes that were left behind. On a slow machine the timeout must be longer.
func leaveAndEnd(t *testing.T, kind, end string, timeout time.Duration) []string {
	t.Helper()
	stop, cancelStop := context.WithCancel(ctx)
	defer cancelStop()
	kill, cancelKill := context.WithCancel(ctx)
	defer cancelKill()
	out := &watcher{want: "\n"}
	spec := Spec{Argv: helperArgv(t, "leak-and-hang", kind), Env: quiet(t), Stdout: out, Grace: time.Hour}
	switch end {
	case "normal":
		spec.Argv = helperArgv(t, "leak", kind)
	case "stop":
		out.saw = cancelStop
	case "kill":
		out.saw = cancelKill
	case "timeout":
		spec.Timeout = timeout
	}
	exit, err := Run(stop, kill, spec)
	if err != nil {
		t.Fatalf("Run = %v, %v", exit, err)
	}
	pids := strings.Fields(out.buf.String())
	switch {
	case len(pids) > 0 || kind == "chain":
		return pids
	case end == "timeout" && timeout < time.Minute:
		return leaveAndEnd(t, kind, end, 2*timeout)
	default:
		t.Fatal("nobody was left behind, so nothing was tested")
		return nil
	}
}

func alive(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("%q is no pid", pid)
	}
	return syscall.Kill(n, 0) == nil
}

// TestSideBySide: what one command left behind is not swept away with another command's.
func TestSideBySide(t *testing.T) {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error)
	first := &watcher{want: "\n", saw: func() { close(ready) }}
	argv := helperArgv(t, "leak-and-hang", "daemon")
	go func() {
		_, err := Run(stop, ctx, Spec{Argv: argv, Env: quiet(t), Stdout: first, Grace: time.Hour})
		ended <- err
	}()
	<-ready
	var second bytes.Buffer
	if _, err := Run(ctx, ctx, Spec{Argv: helperArgv(t, "leak", "daemon"), Env: quiet(t), Stdout: &second}); err != nil {
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

// TestForeignChildren: whoever in this program starts a process in our own group waits for it.
func TestForeignChildren(t *testing.T) {
	argv := helperArgv(t, "cat")
	cmd := exec.Command(argv[0], argv[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, ctx, Spec{Argv: helperArgv(t, "leak", "session"), Env: quiet(t)}); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("Wait = %v, want a normal end: Run touched a process that is not its own", err)
	}
}

// TestMark: the limit that marks a command is gone from us after the fork and is different each time.
func TestMark(t *testing.T) {
	before := fileLimit(t)
	seen := map[uint64]bool{}
	for range 3 {
		mark, unset := setMark(0)
		if got := fileLimit(t).Cur; got != mark || mark < 1<<62 || seen[mark] {
			t.Errorf("the limit is %#x after setMark() = %#x, want the same new mark", got, mark)
		}
		seen[mark] = true
		unset()
	}
	if got := fileLimit(t); got != before {
		t.Errorf("the limit is %v afterwards, want %v", got, before)
	}
}

func fileLimit(t *testing.T) unix.Rlimit {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		t.Fatal(err)
	}
	return limit
}

// TestScan: both ways to list children agree.
func TestScan(t *testing.T) {
	argv := helperArgv(t, "cat")
	cmd := exec.Command(argv[0], argv[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]func(int) []int{"children": children, "scan": scan} {
		if got := list(os.Getpid()); len(got) != 1 || got[0] != cmd.Process.Pid {
			t.Errorf("%s() = %v, want [%d]", name, got, cmd.Process.Pid)
		}
	}
	if state, group := status(cmd.Process.Pid); group != unix.Getpgrp() || strings.IndexByte("RSD", state) < 0 {
		t.Errorf("status = %c, %d, want a living member of group %d", state, group, unix.Getpgrp())
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, group := status(cmd.Process.Pid); group != 0 {
		t.Errorf("status(gone) has group %d, want 0", group)
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
		_, _ = Run(ctx, ctx, Spec{Argv: append([]string{argv0}, argv[1:]...), Env: quiet(t), Stdin: []byte("x")})
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
		if _, err := Run(ctx, ctx, Spec{Argv: argv}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestEndMarked: what a dead run left behind is found by its mark alone, and nothing else is touched.
func TestEndMarked(t *testing.T) {
	mark, other := NewMark(), NewMark()
	ends := make(chan Exit, 2)
	kill, cancel := context.WithCancel(t.Context())
	for _, m := range []Mark{mark, other} {
		ready := make(notify, 1)
		go func() {
			exit, err := Run(t.Context(), kill, Spec{Argv: helperArgv(t, "hang"), Env: quiet(t), Stdout: ready, Mark: m})
			if err != nil {
				t.Error(err)
			}
			ends <- exit
		}()
		<-ready
	}
	if err := EndMarked(mark); err != nil {
		t.Fatal(err)
	}
	if exit := <-ends; exit.Signal != "killed" || exit.Stopped {
		t.Errorf("the marked command ended with %v, want killed", exit)
	}
	select {
	case exit := <-ends:
		t.Errorf("the other command ended too: %v", exit)
	default:
	}
	cancel()
	<-ends
}

// notify is told of a command's first output.
type notify chan struct{}

func (n notify) Write(p []byte) (int, error) {
	select {
	case n <- struct{}{}:
	default:
	}
	return len(p), nil
}
