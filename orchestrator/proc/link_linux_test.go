package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSignalsCountOnce: whether they reach the guardian alone, as from timeout(1), or the group, as
// from a terminal. A signal to the runner past its guardian is discarded.
func TestSignalsCountOnce(t *testing.T) {
	g := startGuarded(t, "guard", "listen")
	runner := g.expectPid("joined ")
	guardian := g.cmd.Process.Pid
	g.signal(guardian, syscall.SIGPIPE)
	for _, tt := range []struct {
		pid    int
		signal syscall.Signal
	}{
		{guardian, syscall.SIGINT}, {-guardian, syscall.SIGTERM}, {guardian, syscall.SIGINT}, {-guardian, syscall.SIGHUP}, {-guardian, syscall.SIGINT},
	} {
		g.signal(runner, syscall.SIGTERM)
		g.signal(tt.pid, tt.signal)
		if got := g.expect("took "); got != tt.signal.String() {
			t.Errorf("the runner took %s, want %s", got, tt.signal)
		}
	}
	g.signal(guardian, syscall.SIGQUIT)
	if got := g.expect("took "); got != syscall.SIGQUIT.String() {
		t.Errorf("the runner took %s, want quit", got)
	}
	if got, _ := g.fate(); got != (Fate{Code: 3, Told: true, Asked: syscall.SIGQUIT}) {
		t.Errorf("fate = %+v, want code 3, asked to quit", got)
	}
}

// TestSignalBeforeJoin: Ctrl-C in the first moments ends the runner, and the guardian has heard of
// it too.
func TestSignalBeforeJoin(t *testing.T) {
	g := startGuarded(t, "guard", "unjoined")
	g.expect("unjoined ")
	g.signal(-g.cmd.Process.Pid, syscall.SIGINT)
	if got, _ := g.fate(); got != (Fate{Code: -1, Signal: syscall.SIGINT, Asked: syscall.SIGINT}) {
		t.Errorf("fate = %+v, want a runner that was interrupted, and the request", got)
	}
}

// TestLastWordsAreHeard: also when the runner left something unread, and its guardian comes late.
func TestLastWordsAreHeard(t *testing.T) {
	g := startGuarded(t, "guard", "parting")
	runner := g.expectPid("unjoined ")
	g.signal(g.cmd.Process.Pid, syscall.SIGTERM)
	g.expect("unread")
	g.signal(g.cmd.Process.Pid, syscall.SIGSTOP)
	_ = g.stdin.Close()
	waitUntil(t, "the runner is dead", func() bool { return !isAlive(runner) })
	g.signal(g.cmd.Process.Pid, syscall.SIGCONT)
	if got, _ := g.fate(); got != (Fate{Code: 4, Told: true, Asked: syscall.SIGTERM}) {
		t.Errorf("fate = %+v, want code 4, told", got)
	}
}

func TestGuardianKilled(t *testing.T) {
	g := startGuarded(t, "guard", "forsaken")
	runner := g.expectPid("joined ")
	g.signal(g.cmd.Process.Pid, syscall.SIGKILL)
	if got := g.expect("lost "); got != "have the guardian hold /dev/stdin: the guardian is gone true" {
		t.Errorf("the runner says %q", got)
	}
	if !isAlive(runner) {
		t.Error("the runner has no time to clean up")
	}
}

func isLocked(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err != nil
}

// TestLockOutlivesTheRunner: the lock is free only when the last process of the run is gone.
func TestLockOutlivesTheRunner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	g := startGuarded(t, "guard", "locks", path)
	runner := g.expectPid("joined ")
	if got := g.order("hold"); got != "<nil>" {
		t.Fatalf("Hold = %s", got)
	}
	if _, err := io.WriteString(g.stdin, "crowd\n"); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for range 40 {
		pids = append(pids, g.expectPid(""))
	}
	g.expect("done crowd")
	g.signal(g.cmd.Process.Pid, syscall.SIGSTOP)
	g.signal(runner, syscall.SIGKILL)
	waitUntil(t, "the runner is dead", func() bool { return !isAlive(runner) })
	if !isLocked(t, path) || !isAlive(pids[0]) {
		t.Error("the lock, or the crowd, did not outlive the runner while the guardian was stopped")
	}
	g.signal(g.cmd.Process.Pid, syscall.SIGCONT)
	for isLocked(t, path) { // without a pause: what still lives then must not have the time to die
		continue
	}
	for _, pid := range pids {
		if isAlive(pid) {
			t.Fatalf("the lock is free and process %d lives", pid)
		}
	}
	if got, _ := g.fate(); got.Signal != syscall.SIGKILL {
		t.Errorf("fate = %+v, want killed", got)
	}
}

// TestRelease: the guardian lets go of that file, and of no other.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	g := startGuarded(t, "guard", "locks", first, second)
	g.expect("joined ")
	for _, order := range []string{"hold", "hold", "close 0", "close 1"} {
		if got := g.order(order); got != "<nil>" {
			t.Errorf("%s = %s", order, got)
		}
	}
	if !isLocked(t, first) || !isLocked(t, second) {
		t.Error("the guardian does not hold the locks of closed files")
	}
	if got := g.order("release 0"); got != "<nil>" {
		t.Errorf("release = %s", got)
	}
	if isLocked(t, first) || !isLocked(t, second) {
		t.Errorf("locked: first %t, second %t, want only the second", isLocked(t, first), isLocked(t, second))
	}
	_, _ = io.WriteString(g.stdin, "leave\n")
	if got, _ := g.fate(); got != (Fate{Told: true}) {
		t.Errorf("fate = %+v, want 0, told", got)
	}
	if isLocked(t, second) {
		t.Error("the lock outlived its guardian")
	}
}

// TestHoldFails: a guardian without descriptors says so.
func TestHoldFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	g := startGuarded(t, "guard", "locks", path, path+"2")
	g.expect("joined ")
	var old unix.Rlimit
	if err := unix.Prlimit(g.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 100}, &old); err != nil {
		t.Fatal(err)
	}
	if got := g.order("hold"); !strings.HasSuffix(got, "the guardian cannot") {
		t.Errorf("Hold = %s, want that the guardian cannot", got)
	}
	if err := unix.Prlimit(g.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 100}, nil); err != nil {
		t.Fatal(err)
	}
	if got := g.order("hold"); got != "<nil>" {
		t.Errorf("Hold = %s, want none of it later", got)
	}
}

// TestJoinAlone: a person who types the hidden command is told so.
func TestJoinAlone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	ours, theirs, err := newWires()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.close()
	defer theirs.Close()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	stream := os.NewFile(uintptr(fds[0]), "stream")
	defer stream.Close()
	defer unix.Close(fds[1])
	for _, tt := range []struct {
		name  string
		words []string
		files []*os.File
	}{
		{"nothing", []string{RunnerCommand, "leave"}, nil},
		{"a pipe", []string{RunnerCommand, "leave"}, []*os.File{w}},
		{"another socket", []string{RunnerCommand, "leave"}, []*os.File{stream}},
		{"a foreign link", []string{"helper", "intermediate", "leave"}, []*os.File{theirs}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(helperArgv(t)[0], tt.words...)
			cmd.Env, cmd.ExtraFiles = quiet(t), tt.files
			if out, _ := cmd.Output(); !strings.HasPrefix(string(out), "no link: ") {
				t.Errorf("Join = %s, want an error", out)
			}
		})
	}
}

// TestLinkIsNotInherited: an agent that has it could speak for the runner and keep it alive.
func TestLinkIsNotInherited(t *testing.T) {
	g := startGuarded(t, "guard", "descriptors")
	for line := g.line(); !strings.HasPrefix(line, "fate "); line = g.line() {
		if strings.Contains(line, "socket") {
			t.Errorf("an agent has inherited %s", line)
		}
	}
}

// TestGuardianKilledEarly: a runner that comes to Join later than its guardian's end was not typed
// by a person.
func TestGuardianKilledEarly(t *testing.T) {
	g := startGuarded(t, "guard", "late")
	g.expect("unjoined ")
	g.signal(g.cmd.Process.Pid, syscall.SIGKILL)
	_ = g.cmd.Wait()
	_ = g.stdin.Close()
	g.expect("joined ")
	g.expect("lost ")
}

// TestLinkKeptOpen: a process that has the runner's end of the link does not keep the guardian
// waiting.
func TestLinkKeptOpen(t *testing.T) {
	g := startGuarded(t, "guard", "indiscreet")
	pid := g.expectPid("")
	if got, _ := g.fate(); got != (Fate{Code: 6}) {
		t.Errorf("fate = %+v, want code 6", got)
	}
	if isAlive(pid) {
		t.Errorf("process %d outlived the guardian", pid)
	}
}

// TestCrowdedLink: a thousand boards that begin or end at once fill the link in both directions,
// and each gets its answer.
func TestCrowdedLink(t *testing.T) {
	ours, theirs, err := newWires()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(theirs.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	link, err := newLink(fd)
	if err != nil {
		t.Fatal(err)
	}
	g := &guardian{wire: ours, files: map[uint32]*os.File{}}
	heard := make(chan struct{})
	const crowd = 1000
	go func() {
		defer close(heard)
		for asked := 0; asked < crowd; {
			link.mu.Lock()
			asked = len(link.waiting)
			link.mu.Unlock()
		}
		g.receivePackets()
	}()
	var wg sync.WaitGroup
	for range crowd {
		wg.Go(func() {
			release, err := link.Hold(os.Stderr)
			if err != nil {
				t.Error(err)
				return
			}
			if err := release(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := link.Leave(7); err != nil {
		t.Error(err)
	}
	link.wire.close()
	<-heard
	<-link.Lost()
	ours.close()
	if g.fate.Code != 7 || len(g.files) > 0 {
		t.Errorf("the guardian heard %+v and holds %d files, want 7 and none", g.fate, len(g.files))
	}
}
