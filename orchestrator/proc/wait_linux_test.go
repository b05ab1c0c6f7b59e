package proc

import (
	"errors"
	"os/exec"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestManyEnds: no end of a crowd is missed. A zombie that is not reaped hides nothing.
func TestManyEnds(t *testing.T) {
	argv := helperArgv(t, "exit", "7")
	foreign := exec.Command(argv[0], argv[1:]...)
	foreign.Env = quiet(t)
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	await(foreign.Process.Pid)
	const crowd = 60
	children := make([]*child, crowd)
	for i := range children {
		c, err := forkChild(&Spec{Argv: helperArgv(t, "cat"), Env: quiet(t)}, inherited{nil, nil, nil})
		if err != nil {
			t.Fatal(err)
		}
		children[i] = c
	}
	var wg sync.WaitGroup
	for _, c := range children {
		wg.Go(func() {
			c.await()
			if _, err := c.reap(); err != nil {
				t.Error(err)
			}
		})
	}
	for _, c := range children {
		c.killGroup()
	}
	wg.Wait()
	if err := foreign.Wait(); foreign.ProcessState.ExitCode() != 7 {
		t.Errorf("Wait(foreign) = %v, want its exit status, 7", err)
	}
	if len(subreaper.leaders) != 0 {
		t.Errorf("%d leaders are left, want none", len(subreaper.leaders))
	}
}

// TestAwait: the end is told, whether it was before or comes after.
func TestAwait(t *testing.T) {
	for _, early := range []bool{true, false} {
		c, err := forkChild(&Spec{Argv: helperArgv(t, "hang"), Env: quiet(t)}, inherited{nil, nil, nil})
		if err != nil {
			t.Fatal(err)
		}
		if early {
			c.killGroup()
			await(c.pid)
		}
		if ended := c.hasEnded(); ended != early {
			t.Errorf("hasEnded = %t, want %t", ended, early)
		}
		time.AfterFunc(time.Millisecond, c.killGroup)
		c.await()
		if status, err := c.reap(); err != nil || status.Signal() != unix.SIGKILL {
			t.Errorf("reap = %v, %v, want killed", status, err)
		}
	}
}

// TestEndWinsUnnoticed: a command that has ended was not stopped, also when its goroutine does not
// know of the end yet.
func TestEndWinsUnnoticed(t *testing.T) {
	for name, end := range ends {
		c, err := forkChild(&Spec{Argv: helperArgv(t, "exit", "3"), Env: quiet(t)}, inherited{nil, nil, nil})
		if err != nil {
			t.Fatal(err)
		}
		c.await()
		p := &Process{child: c, grace: time.Hour}
		if end(p); p.cause != none || p.killed || p.timer != nil {
			t.Errorf("%s of a command that has ended: %+v, want nothing", name, p)
		}
		if status, err := c.reap(); err != nil || status.ExitStatus() != 3 {
			t.Errorf("reap = %v, %v, want exit status 3", status, err)
		}
	}
}

// TestNotOurs: a number that is no child's is not waited for.
func TestNotOurs(t *testing.T) {
	await(1 << 30)
	if !hasDied(1 << 30) {
		t.Error("a number that is no child's is waited for")
	}
	if err := waitid(unix.P_PID, 1<<30, 0, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("waitid = %v", err)
	}
}

// TestAwaitWithoutDescriptor: where there is no descriptor to be had, a thread waits.
func TestAwaitWithoutDescriptor(t *testing.T) {
	c, err := forkChild(&Spec{Argv: helperArgv(t, "hang"), Env: quiet(t)}, inherited{nil, nil, nil})
	if err != nil {
		t.Fatal(err)
	}
	var was unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: was.Max}, nil); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, c.killGroup)
	await(c.pid)
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &was, nil); err != nil {
		t.Fatal(err)
	}
	if status, err := c.reap(); err != nil || status.Signal() != unix.SIGKILL {
		t.Errorf("reap = %v, %v, want killed", status, err)
	}
}

// TestAsleep: a command that waits holds little of this process. The bounds are generous.
func TestAsleep(t *testing.T) {
	const crowd = 100
	before := holds(t)
	u, _ := asleep(t, crowd)
	if u.fds > 3*crowd+8 || u.goroutines > 3*crowd || u.threads > before.threads+16 || u.rss > crowd*128 {
		t.Errorf("%d commands hold %d descriptors, %d goroutines, %d threads (%d before) and %d KB, want 3 and 3 each, a handful, and 128 KB each",
			crowd, u.fds, u.goroutines, u.threads, before.threads, u.rss)
	}
}
