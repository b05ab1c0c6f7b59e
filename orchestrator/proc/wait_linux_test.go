package proc

import (
	"errors"
	"os/exec"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestManyEnds: signals that fall together are one, and no end may be missed for that. Zombies that nobody reaps hide nothing.
func TestManyEnds(t *testing.T) {
	argv := helperArgv(t, "exit", "7")
	stranger := exec.Command(argv[0], argv[1:]...)
	stranger.Env = quiet(t)
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	await(stranger.Process.Pid)
	const crowd = 60
	children := make([]*child, crowd)
	for i := range children {
		c, err := spawn(&Spec{Argv: helperArgv(t, "cat"), Env: quiet(t)}, inherited{^uintptr(0), ^uintptr(0), ^uintptr(0)})
		if err != nil {
			t.Fatal(err)
		}
		c.watch(i%2 == 0, 0)
		children[i] = c
	}
	var wg sync.WaitGroup
	for _, c := range children {
		c.killLeader()
		wg.Go(func() {
			<-c.ended
			if _, err := c.reap(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := stranger.Wait(); stranger.ProcessState.ExitCode() != 7 {
		t.Errorf("Wait(stranger) = %v, want its exit status, 7", err)
	}
	if household.waiters != 0 || household.bell != nil {
		t.Errorf("%d waiters are left, want none", household.waiters)
	}
}

// TestWatch: the end is told once, whether it was before or comes after, in place or by signal.
func TestWatch(t *testing.T) {
	for _, given := range []bool{true, false} {
		for _, early := range []bool{true, false} {
			c, err := spawn(&Spec{Argv: helperArgv(t, "hang"), Env: quiet(t)}, inherited{^uintptr(0), ^uintptr(0), ^uintptr(0)})
			if err != nil {
				t.Fatal(err)
			}
			if early {
				c.killLeader()
				await(c.pid)
			}
			if ended := c.watch(given, 0); ended != early {
				t.Errorf("watch(%t) = %t, want %t", given, ended, early)
			}
			c.killLeader()
			<-c.ended
			if status, err := c.reap(); err != nil || status.Signal() != unix.SIGKILL {
				t.Errorf("reap = %v, %v, want killed", status, err)
			}
		}
	}
}

// TestAwaitInPlace: a crowd may not have a thread each.
func TestAwaitInPlace(t *testing.T) {
	for range maxInPlace {
		inPlace <- struct{}{}
	}
	began := time.Now()
	if awaitInPlace(unix.Getpid(), time.Hour) || time.Since(began) > time.Minute {
		t.Error("one more may wait in place")
	}
	for range maxInPlace {
		<-inPlace
	}
	if !hasDied(1 << 30) {
		t.Error("a number that is nobody's is waited for")
	}
	if err := waitid(unix.P_PID, 1<<30, 0, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("waitid = %v", err)
	}
}

// TestAsleep: a command that waits holds little of this process. The bounds are generous.
func TestAsleep(t *testing.T) {
	const crowd = 100
	before := holds(t)
	u, _ := asleep(t, crowd)
	if u.fds > 2*crowd+8 || u.threads > before.threads+16 || u.rss > crowd*128 {
		t.Errorf("%d commands hold %d descriptors, %d threads (%d before) and %d KB, want 2 each, a handful, and 128 KB each",
			crowd, u.fds, u.threads, before.threads, u.rss)
	}
}
