package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var ctx = context.Background()

// watcher calls saw once, when the text has been written to it.
type watcher struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	want string
	saw  func()
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if w.saw != nil && strings.Contains(w.buf.String(), w.want) {
		w.saw()
		w.saw = nil
	}
	return len(p), nil
}

func TestRun(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 640<<10) // 10 MiB, far more than a pipe holds
	for _, tt := range []struct {
		name, mode, arg string
		stdin           string
		exit            string
		stdout, stderr  string
	}{
		{name: "in and out", mode: "cat", stdin: "hello\n", stdout: "hello\n", exit: "exit status 0"},
		{name: "no input", mode: "cat", exit: "exit status 0"},
		{name: "10 MiB in and out", mode: "cat", stdin: big, stdout: big, exit: "exit status 0"},
		{name: "never reads 10 MiB", mode: "deaf", stdin: big, stdout: "not listening\n", exit: "exit status 0"},
		{name: "exit status", mode: "exit", arg: "3", exit: "exit status 3"},
		{name: "killed", mode: "killed", exit: "killed by signal: killed"},
		{name: "closes its output and lives on", mode: "mute", stderr: "still here\n", exit: "exit status 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			argv := helperArgv(t, tt.mode, tt.arg)
			exit, err := Run(ctx, ctx, &Spec{Argv: argv, Env: quiet(t), Stdin: []byte(tt.stdin), Stdout: &stdout, Stderr: &stderr})
			if err != nil {
				t.Fatal(err)
			}
			if got := exit.String(); got != tt.exit || exit.TimedOut || exit.Stopped {
				t.Errorf("Run(%s) = %+v, want %s", tt.mode, exit, tt.exit)
			}
			if got := stdout.String(); got != tt.stdout {
				t.Errorf("stdout has %d bytes, %.40q, want %d, %.40q", len(got), got, len(tt.stdout), tt.stdout)
			}
			if got := stderr.String(); got != tt.stderr {
				t.Errorf("stderr = %.80q, want %q", got, tt.stderr)
			}
		})
	}
}

// unmarked removes a mark, which only some systems add.
var unmarked = regexp.MustCompile(` ?KANBAN_RUN_MARK=[0-9a-f]{16}\b`)

// TestEnvironment: the command gets exactly the environment and the folder that it is given, and a
// mark.
func TestEnvironment(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		env  []string
		want string
	}{
		{"some", []string{"B=2", "A=1"}, dir + " [B=2 A=1]\n"},
		{"none", nil, dir + " []\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout bytes.Buffer
			if _, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "environment"), Dir: dir, Env: tt.env, Stdout: &stdout}); err != nil {
				t.Fatal(err)
			}
			if got := unmarked.ReplaceAllString(stdout.String(), ""); got != tt.want {
				t.Errorf("the command says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStop(t *testing.T) {
	const never = time.Hour
	for _, tt := range []struct {
		name, mode         string
		grace, timeout     time.Duration
		stopAt, killAt     string // text on stdout
		want               string
		timedOut, complete bool
	}{
		{name: "asked, it goes at once", mode: "hang", grace: never, stopAt: "ready", want: "stopped (killed by signal: terminated)"},
		{name: "asked, it says goodbye", mode: "graceful", grace: never, stopAt: "ready", want: "stopped (exit status 0)", complete: true},
		{name: "a suspended one hears it too", mode: "suspended", grace: never, stopAt: "ready", want: "stopped (killed by signal: terminated)"},
		{name: "a stubborn one is killed after the grace", mode: "stubborn", grace: 30 * time.Millisecond, stopAt: "ready", want: "stopped (killed by signal: killed)"},
		{name: "without a grace it is killed", mode: "graceful", stopAt: "ready", want: "stopped (killed by signal: killed)"},
		{name: "kill does not ask", mode: "graceful", grace: never, killAt: "ready", want: "stopped (killed by signal: killed)"},
		{name: "kill cuts the grace short", mode: "stubborn", grace: never, stopAt: "ready", killAt: "asked", want: "stopped (killed by signal: killed)"},
		{name: "timeout", mode: "hang", grace: never, timeout: 50 * time.Millisecond, want: "timed out after 50ms (killed by signal: terminated)", timedOut: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stop, cancelStop := context.WithCancel(ctx)
			defer cancelStop()
			kill, cancelKill := context.WithCancel(ctx)
			defer cancelKill()
			var first, second watcher
			if tt.stopAt != "" {
				first = watcher{want: tt.stopAt, saw: cancelStop}
			}
			if tt.killAt != "" {
				second = watcher{want: tt.killAt, saw: cancelKill}
			}
			exit, err := Run(stop, kill, &Spec{Argv: helperArgv(t, tt.mode), Env: quiet(t), Stdout: io.MultiWriter(&first, &second), Timeout: tt.timeout, Grace: tt.grace})
			if err != nil {
				t.Fatal(err)
			}
			if got := exit.String(); got != tt.want || exit.TimedOut != tt.timedOut || exit.Stopped == tt.timedOut {
				t.Errorf("Run(%s) = %s, %+v, want %s", tt.mode, got, exit, tt.want)
			}
			if got := strings.Contains(first.buf.String(), "bye"); got != tt.complete {
				t.Errorf("the command said goodbye = %t, want %t", got, tt.complete)
			}
		})
	}
}

// TestStubbornTimeout: a command that does not go when its time is over is killed after the grace,
// and not later because it was stopped in the grace. Its time begins when it listens.
func TestStubbornTimeout(t *testing.T) {
	for name, asked := range map[string]func(*Process){"alone": func(*Process) {}, "stopped in the grace": (*Process).Stop} {
		t.Run(name, func(t *testing.T) {
			ready, told := make(chan struct{}), make(chan struct{})
			out := io.MultiWriter(&watcher{want: "ready", saw: func() { close(ready) }}, &watcher{want: "asked", saw: func() { close(told) }})
			p, err := Start(ctx, &Spec{Argv: helperArgv(t, "stubborn"), Env: quiet(t), Stdout: out, Timeout: time.Hour, Grace: 200 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			<-ready
			p.Limit(20 * time.Millisecond)
			<-told
			asked(p)
			exit, err := p.Wait()
			if want := "timed out after 20ms (killed by signal: killed)"; err != nil || exit.String() != want || !exit.TimedOut || exit.Stopped {
				t.Errorf("Wait = %s, %+v, %v, want %s", exit, exit, err, want)
			}
		})
	}
}

func TestStoppedBeforeTheStart(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	for name, contexts := range map[string][2]context.Context{"stop": {done, ctx}, "kill": {ctx, done}} {
		exit, err := Run(contexts[0], contexts[1], &Spec{Argv: []string{"/does/not/exist"}})
		if err != nil || !exit.Stopped || exit.Code != -1 || exit.String() != "stopped before it started" {
			t.Errorf("Run with %s cancelled = %v (%+v), %v, want it not to start", name, exit, exit, err)
		}
	}
}

// TestEndWins: a command that has ended was not stopped, whatever else happens in the same moment.
// Its reply counts.
func TestEndWins(t *testing.T) {
	for name, end := range ends {
		p := &Process{ended: true, grace: time.Hour}
		if end(p); p.cause != none || p.killed || p.timer != nil {
			t.Errorf("%s of a command that has ended: %+v, want nothing", name, p)
		}
	}
}

// timeOut is the end of the timeout.
func timeOut(p *Process) { p.interrupt(timedOut, p.grace) }

var ends = map[string]func(*Process){"Stop": (*Process).Stop, "Kill": (*Process).Kill, "timeOut": timeOut}

// gently is StopGently, with its second time an hour.
func gently(wait time.Duration) func(*Process) {
	return func(p *Process) { p.StopGently(wait, wait+time.Hour) }
}

// killSoon is StopGently with a SIGKILL soon after the SIGTERM.
func killSoon(p *Process) { p.StopGently(time.Millisecond, 20*time.Millisecond) }

// TestProcess: all that may be asked of a process, in whatever order and however often.
func TestProcess(t *testing.T) {
	for _, tt := range []struct {
		name, mode string
		ends       []func(*Process)
		want       string
	}{
		{"stopped twice", "graceful", []func(*Process){(*Process).Stop, (*Process).Stop}, "stopped (exit status 0)"},
		{"killed twice", "graceful", []func(*Process){(*Process).Kill, (*Process).Kill}, "stopped (killed by signal: killed)"},
		{"killed in the grace", "stubborn", []func(*Process){(*Process).Stop, (*Process).Kill, (*Process).Stop}, "stopped (killed by signal: killed)"},
		{"stopped after the timeout", "graceful", []func(*Process){timeOut, (*Process).Stop}, "timed out after 1h0m0s (exit status 0)"},
		{"killed after the timeout", "stubborn", []func(*Process){timeOut, (*Process).Kill}, "timed out after 1h0m0s (killed by signal: killed)"},
		{"timeout after the stop", "graceful", []func(*Process){(*Process).Stop, timeOut}, "stopped (exit status 0)"},
		{"ends with its input", "listener", []func(*Process){gently(time.Hour)}, "stopped (exit status 0)"},
		{"asked when its input was closed", "graceful", []func(*Process){gently(time.Millisecond)}, "stopped (exit status 0)"},
		{"killed when it was asked", "stubborn", []func(*Process){killSoon}, "stopped (killed by signal: killed)"},
		{"stopped in the time to end", "graceful", []func(*Process){gently(time.Hour), (*Process).Stop}, "stopped (exit status 0)"},
		{"killed in the time to end", "stubborn", []func(*Process){gently(time.Hour), (*Process).Kill}, "stopped (killed by signal: killed)"},
		{"timeout in the time to end", "graceful", []func(*Process){gently(time.Hour), timeOut}, "stopped (exit status 0)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ready := make(chan struct{})
			out := &watcher{want: "ready", saw: func() { close(ready) }}
			p, err := Start(ctx, &Spec{Argv: helperArgv(t, tt.mode), Env: quiet(t), Stdout: out, KeepInput: true, Timeout: time.Hour, Grace: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			<-ready
			ended := make(chan struct{})
			go func() { _, _ = p.Wait(); close(ended) }()
			select {
			case <-ended:
				t.Fatal("Wait has returned before the end")
			case <-time.After(10 * time.Millisecond):
			}
			for _, end := range tt.ends {
				end(p)
			}
			<-ended
			for _, end := range ends {
				end(p)
			}
			if exit, err := p.Wait(); err != nil || exit.String() != tt.want {
				t.Errorf("Wait = %v, %v, want %s", exit, err, tt.want)
			}
		})
	}
}

// TestStartWhenStopped: the context ends the patience only.
func TestStartWhenStopped(t *testing.T) {
	over, cancel := context.WithCancel(ctx)
	cancel()
	p, err := Start(over, &Spec{Argv: helperArgv(t, "exit", "3"), Env: quiet(t)})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(); err != nil || exit.String() != "exit status 3" {
		t.Errorf("Wait = %v, %v, want exit status 3", exit, err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestFailingWriter: the command does not notice that its output cannot be written down.
func TestFailingWriter(t *testing.T) {
	full := errors.New("disk full")
	exit, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "flood", "1000000"), Env: quiet(t), Stdout: failing{full}})
	if !errors.Is(err, full) || exit.String() != "exit status 0" {
		t.Errorf("Run(flood) = %v, %v, want exit status 0 and the writer's error", exit, err)
	}
}

func TestStartError(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("just text\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.WriteFile(closed, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	self := helperArgv(t, "exit", "0")
	for _, tt := range []struct {
		name string
		spec *Spec
		want error
		hint string
	}{
		{"missing", &Spec{Argv: []string{filepath.Join(dir, "no")}}, syscall.ENOENT, "correct the path"},
		{"not executable", &Spec{Argv: []string{closed}}, syscall.EACCES, "chmod +x"},
		{"no program", &Spec{Argv: []string{text}}, syscall.ENOEXEC, "#!"},
		{"a folder", &Spec{Argv: []string{dir}}, syscall.EACCES, ""},
		{"missing work directory", &Spec{Argv: self, Dir: filepath.Join(dir, "gone")}, syscall.ENOENT, ""},
		{"too long", &Spec{Argv: append(self, strings.Repeat("x", 4<<20))}, syscall.E2BIG, ""},
		{"NUL in an argument", &Spec{Argv: append(self, "a\x00b")}, syscall.EINVAL, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exit, err := Run(ctx, ctx, tt.spec)
			var start *StartError
			if !errors.As(err, &start) || !errors.Is(err, tt.want) || exit.Code != -1 {
				t.Fatalf("Run(%s) = %v, %v, want a *StartError with %v", tt.name, exit, err, tt.want)
			}
			if !strings.Contains(start.Hint(), tt.hint) || tt.spec.Dir != "" && start.Hint() != "" {
				t.Errorf("Hint() = %q, want %q in it", start.Hint(), tt.hint)
			}
			if start.Argv0 != tt.spec.Argv[0] {
				t.Errorf("Argv0 = %q, want %q", start.Argv0, tt.spec.Argv[0])
			}
		})
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"run": 0o755, "read": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for _, tt := range []struct {
		name, dir, want string
		err             error
	}{
		{"run", "/", filepath.Join(dir, "run"), nil},
		{"./run", dir, filepath.Join(dir, "run"), nil},
		{"../" + filepath.Base(dir) + "/run", dir, filepath.Join(dir, "run"), nil},
		{filepath.Join(dir, "run"), "/", filepath.Join(dir, "run"), nil},
		{"./nothing", dir, "", os.ErrNotExist},
		{"unknown", dir, "", exec.ErrNotFound},
		{"read", dir, "", exec.ErrNotFound},
		{"./read", dir, "", os.ErrPermission},
		{"./", dir, "", syscall.EISDIR},
		{"", dir, "", exec.ErrNotFound},
	} {
		got, err := LookPath(tt.name, tt.dir)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("LookPath(%q, %q) = %q, %v, want %q, %v", tt.name, tt.dir, got, err, tt.want, tt.err)
		}
		var start *StartError
		if err != nil && (!errors.As(err, &start) || strings.Count(err.Error(), tt.name) > 1 && tt.name != "") {
			t.Errorf("LookPath(%q) says %q, want a *StartError that names it once", tt.name, err)
		}
		if start != nil && start.Hint() == "" {
			t.Errorf("LookPath(%q) says %q, want a hint with it", tt.name, err)
		}
	}
}

// TestPatience: no process to be had is the system's trouble, not the command's.
func TestPatience(t *testing.T) {
	shortage := &os.PathError{Op: "fork/exec", Path: "x", Err: syscall.EAGAIN}
	for _, tt := range []struct {
		name     string
		failures int
		err      error
		want     error
	}{
		{"twice", 2, shortage, nil},
		{"a file that was only just written", 1, syscall.ETXTBSY, nil},
		{"for ever", 1 << 30, shortage, syscall.EAGAIN},
		{"another error", 1, syscall.EACCES, syscall.EACCES},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, tries, said := time.Now(), 0, 0
				err := retryStart(t.Context(), func(error) { said++ }, func() error {
					if tries++; tries <= tt.failures {
						return tt.err
					}
					return nil
				})
				if !errors.Is(err, tt.want) {
					t.Errorf("retryStart(%s) = %v after %d tries, want %v", tt.name, err, tries, tt.want)
				}
				if want := map[bool]int{true: 1}[tt.failures > 10]; said != want {
					t.Errorf("the wait was said %d times, want %d", said, want)
				}
				if waited := time.Since(began); waited > patience+longPause {
					t.Errorf("it waited for %v, want about %v", waited, patience)
				}
			})
		})
	}
}

func TestPatienceEndsWithStop(t *testing.T) {
	for name, order := range map[string]func(a, b context.Context) (context.Context, context.Context){
		"stop": func(a, b context.Context) (context.Context, context.Context) { return a, b },
		"kill": func(a, b context.Context) (context.Context, context.Context) { return b, a },
	} {
		synctest.Test(t, func(t *testing.T) {
			ends, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			starting, detach := either(order(ends, t.Context()))
			defer detach()
			began := time.Now()
			if err := retryStart(starting, nil, func() error { return syscall.EAGAIN }); !errors.Is(err, syscall.EAGAIN) {
				t.Errorf("%s: patiently = %v, want EAGAIN", name, err)
			}
			if waited := time.Since(began); waited != 3*time.Second {
				t.Errorf("%s: it waited for %v, want 3s", name, waited)
			}
		})
	}
}

// TestShortLivedCommandLosesNothing: what was in the pipe when the command ended is still read,
// however the end of its input and of the command fall together.
func TestShortLivedCommandLosesNothing(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 3000)
	for i := range 100 {
		var out bytes.Buffer
		exit, err := Run(t.Context(), t.Context(), &Spec{Argv: helperArgv(t, "cat"), Env: quiet(t), Stdin: want, Stdout: &out})
		if err != nil || exit.Code != 0 {
			t.Fatalf("run %d: Run = %v, %v", i, exit, err)
		}
		if !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("run %d: %d bytes of output, want %d", i, out.Len(), len(want))
		}
	}
}

// TestKeepInput: a command can be told more while it runs, and its input ends when it is closed.
// What a command does not read keeps nothing waiting.
func TestKeepInput(t *testing.T) {
	more := strings.Repeat("more\n", 100<<10)
	heard := make(chan struct{})
	stdout := &watcher{want: "one\n", saw: func() { close(heard) }}
	p, err := Start(ctx, &Spec{Argv: helperArgv(t, "cat", ""), Env: quiet(t), Stdin: []byte("one\n"), KeepInput: true, Stdout: stdout})
	if err != nil {
		t.Fatal(err)
	}
	<-heard
	p.Send([]byte(more))
	p.Send([]byte("last\n"))
	p.CloseInput()
	p.Send([]byte("too late\n"))
	exit, err := p.Wait()
	if want := "one\n" + more + "last\n"; err != nil || !exit.Succeeded() || stdout.buf.String() != want {
		t.Errorf("exit = %+v, %v, %d bytes, want %d", exit, err, stdout.buf.Len(), len(want))
	}

	p, err = Start(ctx, &Spec{Argv: helperArgv(t, "hang", ""), Env: quiet(t), KeepInput: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Send([]byte(more))
	p.Kill()
	if exit, err := p.Wait(); err != nil || !exit.Stopped {
		t.Errorf("exit = %+v, %v, want it stopped", exit, err)
	}
}
