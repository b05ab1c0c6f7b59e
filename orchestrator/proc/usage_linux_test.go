package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// compute uses a tenth of a second of processor time: itself, or in a child that has ended, or in one
// that stays in another session.
func compute(where string) {
	if where == "itself" {
		var use syscall.Rusage
		for time.Duration(use.Utime.Nano()+use.Stime.Nano()) < 100*time.Millisecond {
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
		}
	} else {
		cmd := exec.Command(os.Args[0], "helper", "compute", "itself")
		cmd.Stdin, cmd.SysProcAttr = os.Stdin, &syscall.SysProcAttr{Setsid: where == "apart"}
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		var ready string
		_, _ = fmt.Fscan(out, &ready)
		if where == "child" {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	fmt.Println("ready")
	hang()
}

// TestUsage: the time that a command computes counts as its own, also that of children that have ended. What
// a process in another session computes is told apart.
func TestUsage(t *testing.T) {
	const least = 8 // ticks, of which a tenth of a second has ten; user and system time are rounded
	for _, tt := range []struct {
		where       string
		own, others bool
	}{
		{"itself", true, false},
		{"child", true, false},
		{"apart", false, true},
	} {
		t.Run(tt.where, func(t *testing.T) {
			ready := make(chan struct{})
			out := &watcher{want: "ready\n", saw: sync.OnceFunc(func() { close(ready) })}
			p, err := Start(ctx, &Spec{Argv: helperArgv(t, "compute", tt.where), Env: quiet(t), Stdout: out})
			if err != nil {
				t.Fatal(err)
			}
			<-ready
			u, ok := p.Usage()
			if !ok || (u.Own.Ticks >= least) != tt.own || (u.Others.Ticks >= least) != tt.others {
				t.Errorf("Usage() = %+v, %v; want own %v, others %v", u, ok, tt.own, tt.others)
			}
			p.Kill()
			if _, err := p.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
