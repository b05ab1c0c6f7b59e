package proc

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// startStaying starts a command that stays, has left a process of that kind behind, and hangs.
func startStaying(t *testing.T, kind string) (p *Process, left string) {
	t.Helper()
	ready := make(chan struct{})
	out := &watcher{want: "\n", saw: func() { close(ready) }}
	p, err := Start(ctx, &Spec{Argv: helperArgv(t, "leak-and-hang", kind), Env: quiet(t), Stdout: out, Grace: time.Hour, Stays: true})
	if err != nil {
		t.Fatal(err)
	}
	<-ready
	out.mu.Lock()
	defer out.mu.Unlock()
	return p, strings.TrimSpace(out.buf.String())
}

// TestStays: beside a command that stays, nothing is left of another one that ends, not even what
// bears no mark; and what the first has left behind lives until its own end.
func TestStays(t *testing.T) {
	for _, kind := range []string{"child", "session", "daemon", "bare", "limits", "group", "headless", "headless-limits"} {
		t.Run(kind, func(t *testing.T) {
			p, mine := startStaying(t, kind)
			other, others := startStaying(t, "daemon")
			for _, step := range []string{"unmarked", "nothing", "daemon", "chain"} {
				var out bytes.Buffer
				if _, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "leak", step), Env: quiet(t), Stdout: &out}); err != nil {
					t.Fatal(err)
				}
				for _, pid := range strings.Fields(out.String()) {
					if alive(t, pid) {
						t.Errorf("process %s of kind %s outlived its command because another one stays", pid, step)
					}
				}
			}
			if !alive(t, mine) || p.hasEnded() {
				t.Errorf("process %s was ended with another command", mine)
			}
			wantGone(t, p, mine)
			if !alive(t, others) {
				t.Errorf("process %s was ended with another command that stays", others)
			}
			wantGone(t, other, others)
		})
	}
}

// wantGone stops a command, with which what it has left behind ends.
func wantGone(t *testing.T, p *Process, left string) {
	t.Helper()
	p.Stop()
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if alive(t, left) {
		t.Errorf("process %s outlived its command", left)
	}
}

// TestStaysWithoutAMark: what a command that stays has left behind without any mark is ended with
// it, or with the first command that ends before.
func TestStaysWithoutAMark(t *testing.T) {
	p, left := startStaying(t, "unmarked")
	wantGone(t, p, left)
	p, left = startStaying(t, "unmarked")
	waitUntil(t, "what was left behind is an orphan", func() bool { s, ok := readStat(number(t, left)); return ok && s.parent == os.Getpid() })
	if _, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "exit", "0"), Env: quiet(t)}); err != nil {
		t.Fatal(err)
	}
	if alive(t, left) || p.hasEnded() {
		t.Errorf("alive: the process without a mark %t, the command that stays %t, want only that", alive(t, left), !p.hasEnded())
	}
	wantGone(t, p, left)
}

// TestStaysBesideASlowCommand: what bears no mark is not taken from a command that still runs.
func TestStaysBesideASlowCommand(t *testing.T) {
	ready := make(chan struct{})
	out := &watcher{want: "\n", saw: func() { close(ready) }}
	slow, err := Start(ctx, &Spec{Argv: helperArgv(t, "leak-and-hang", "unmarked"), Env: quiet(t), Stdout: out, Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	<-ready
	p, mine := startStaying(t, "daemon")
	wantGone(t, p, mine)
	out.mu.Lock()
	left := strings.TrimSpace(out.buf.String())
	out.mu.Unlock()
	if !alive(t, left) {
		t.Errorf("process %s was ended with a command that stays, and not its own", left)
	}
	wantGone(t, slow, left)
}

// TestFlush: what was printed has been written, whichever goroutine reads.
func TestFlush(t *testing.T) {
	w := &failsAfter{n: 1 << 20}
	st, ours, theirs := newPipe(t, 0)
	o := &output{from: ours, to: w}
	st.outputs = []*output{o}
	st.startReading()
	for n := range 2000 {
		if _, err := theirs.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		st.flush()
		o.mu.Lock()
		got := w.Len()
		o.mu.Unlock()
		if got != n+1 {
			t.Fatalf("%d bytes are written, want %d", got, n+1)
		}
	}
	_ = theirs.Close()
	st.wg.Wait()
	st.flush()
	if w.Len() != 2000 {
		t.Errorf("%d bytes are written, want 2000", w.Len())
	}
}

// TestFlushEnds: a command that prints without end does not hold it up.
func TestFlushEnds(t *testing.T) {
	p, err := Start(ctx, &Spec{Argv: helperArgv(t, "flood", "100000000000"), Env: quiet(t)})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		p.Flush()
	}
	p.Kill()
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	p.Flush()
}

// TestLimit: the last time that was set counts, and none once it is taken back. Only the process is
// outside of the bubble: its time passes when the test says so.
func TestLimit(t *testing.T) {
	started, err := Start(ctx, &Spec{Argv: helperArgv(t, "hang"), Env: quiet(t)})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := &Process{child: started.child, streams: started.streams, grace: time.Hour}
		if !p.Limit(time.Minute) || !p.Limit(20*time.Millisecond) || !p.Limit(0) {
			t.Error("Limit of a command that runs = false")
		}
		time.Sleep(time.Hour)
		p.mu.Lock()
		p.startTimeout(time.Millisecond)
		p.timer = nil // as if Limit had come in between the end of that time and its lock
		p.mu.Unlock()
		time.Sleep(time.Hour)
		if !p.Limit(time.Hour) || !p.Limit(10*time.Millisecond) {
			t.Error("a limit that was taken back has ended the command")
		}
		time.Sleep(10*time.Millisecond - 1)
		synctest.Wait()
		p.mu.Lock()
		if p.cause != none {
			t.Error("the last limit has ended the command before its time")
		}
		p.mu.Unlock()
		time.Sleep(time.Nanosecond)
		exit, err := p.Wait()
		if err != nil || !exit.TimedOut || exit.Timeout != 10*time.Millisecond || exit.Signal != syscall.SIGTERM.String() {
			t.Errorf("Wait = %+v, %v, want the last timeout", exit, err)
		}
		if p.Limit(time.Hour) || p.timer != nil && !p.timer.stopped {
			t.Error("Limit of a command that has ended starts a timer")
		}
	})
}
