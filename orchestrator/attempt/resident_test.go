package attempt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/redact"
)

// never is a time that no test waits for.
const never = time.Hour

// stay makes a resident that is gone with the test.
func stay(t *testing.T) *attempt.Resident {
	t.Helper()
	r := attempt.NewResident(never)
	t.Cleanup(func() {
		kill, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.Close(kill); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return r
}

// callOf is the call with a message to a resident.
func callOf(t *testing.T, r *attempt.Resident, m message) attempt.Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	exec := agent.Exec().(agent.Resident)
	inv, err := exec.Stay(agent.Assignment{Input: input, Command: []string{self, "resident"}, Dir: t.TempDir(), Grace: never,
		Env: []string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return attempt.Spec{Adapter: exec, Invocation: inv, Contract: contract.Task, Resident: r, Sinks: attempt.Sinks{Redactor: redact.New(nil)}}
}

func run(t *testing.T, c attempt.Spec) *attempt.Ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := attempt.Run(ctx, ctx, c)
	if err != nil || out.IsStopped() {
		t.Fatalf("Run = %+v, %v", out, err)
	}
	return out
}

// ask returns the text of the reply.
func ask(t *testing.T, r *attempt.Resident, do, text string) string {
	t.Helper()
	out := run(t, callOf(t, r, message{do, text}))
	if out.Reply == nil {
		t.Fatalf("Run(%s) = %+v, %v, want a reply", do, out, out.Failure)
	}
	return out.Reply.Message
}

func wantFailure(t *testing.T, out *attempt.Ended, reason string) {
	t.Helper()
	if out.Reply != nil || out.Failure == nil || !strings.Contains(out.Failure.Reason, reason) {
		t.Errorf("Run = %+v, %v, want the failure %q", out, out.Failure, reason)
	}
}

// TestResident: one process answers all messages, and remembers them. Seed 001.
func TestResident(t *testing.T) {
	r := stay(t)
	if r.Runs() || r.Exited() != nil {
		t.Error("it runs before the first attempt")
	}
	first := run(t, callOf(t, r, message{"remember", "one"}))
	if first.Reply == nil || first.Exit.Duration <= 0 || !first.Exit.Succeeded() || !r.Runs() {
		t.Fatalf("Run = %+v, %v, want a reply of a program that runs on", first, first.Failure)
	}
	pid, _, _ := strings.Cut(first.Reply.Message, " ")
	if got := ask(t, r, "remember", "two"); got != pid+" one two" {
		t.Errorf("the second reply is %q, want %q", got, pid+" one two")
	}
	gone := r.Exited()
	answer, err := r.Ask(t.Context(), []byte(`{"do":"remember","text":"bye"}`), never, attempt.Sinks{Redactor: redact.New(nil)})
	if answer != reply(pid+" one two bye") || err != nil || !r.Runs() {
		t.Errorf("Ask = %s, %v, want its last answer", answer, err)
	}
	if err := r.Close(t.Context()); err != nil || r.Runs() {
		t.Errorf("Close = %v, runs: %t", err, r.Runs())
	}
	wantNoDeath(t, gone)
	if got := ask(t, r, "remember", "again"); !strings.HasSuffix(got, " again") || strings.HasPrefix(got, pid+" ") {
		t.Errorf("behind Close the reply is %q, want that of a new program", got)
	}
}

// TestResidentIsNotAnswered: what is no answer is a failure, and the next
// attempt starts a new program.
func TestResidentIsNotAnswered(t *testing.T) {
	for _, tt := range []struct{ do, text, reason, received string }{
		{"print", "hello", "not a JSON object", "hello"},
		{"print", `{"status":"ok"`, "not a JSON object", `{"status":"ok"`},
		{"exit", "", "exit status 3", ""},
		{"leave", "", "ended without an answer", ""},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			r := stay(t)
			before := ask(t, r, "remember", "")
			out := run(t, callOf(t, r, message{tt.do, tt.text}))
			wantFailure(t, out, tt.reason)
			if out.Received != tt.received || r.Runs() {
				t.Errorf("Received = %q, runs: %t, want %q, and no program", out.Received, r.Runs(), tt.received)
			}
			if after := ask(t, r, "remember", ""); after == before {
				t.Errorf("the program %s is still there", before)
			}
		})
	}
}

// TestResidentRejected: an answer that is no reply is rejected, and the program stays.
func TestResidentRejected(t *testing.T) {
	r := stay(t)
	before := ask(t, r, "remember", "")
	wantFailure(t, run(t, callOf(t, r, message{"print", `{"status":"ok"}`})), "message is missing")
	if after := ask(t, r, "remember", ""); !strings.HasPrefix(after, strings.TrimSpace(before)) {
		t.Errorf("the program is %q, want %q as before", after, before)
	}
}

// TestResidentGone: an end between two attempts is noticed, and the next one starts a new program.
func TestResidentGone(t *testing.T) {
	r := stay(t)
	var pid int
	_, _ = fmt.Sscan(ask(t, r, "remember", ""), &pid)
	gone := r.Exited()
	select {
	case <-gone:
		t.Fatal("it is gone already")
	default:
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	<-gone
	if r.Runs() || r.Exited() != nil {
		t.Error("it runs on")
	}
	ask(t, r, "say", "")
	if again := r.Exited(); again == nil || again == gone || !r.Runs() {
		t.Error("the new program has no end of its own")
	}
}

// TestResidentTimeout: each turn has its own time, and none of it is left for the next one.
func TestResidentTimeout(t *testing.T) {
	r := stay(t)
	pid, _, _ := strings.Cut(ask(t, r, "remember", ""), " ") // a busy machine takes its time to start a program
	c := callOf(t, r, message{"remember", ""})
	c.Invocation.Timeout = time.Second
	if out := run(t, c); out.Reply == nil {
		t.Fatalf("Run = %+v, %v, want a reply", out, out.Failure)
	}
	select { // the time of that turn runs out in no turn
	case <-r.Exited():
		t.Fatal("the time of a turn that was answered has ended the program")
	case <-time.After(c.Invocation.Timeout):
	}
	if got, _, _ := strings.Cut(ask(t, r, "remember", ""), " "); got != pid {
		t.Fatalf("the program is %s, want %s as before", got, pid)
	}
	gone := r.Exited()
	c = callOf(t, r, message{"hang", ""})
	c.Invocation.Timeout = 100 * time.Millisecond
	out := run(t, c)
	wantFailure(t, out, "timed out after 100ms (killed by signal: terminated)")
	if !out.Exit.TimedOut || out.Exit.Duration > out.Exit.Timeout+30*time.Second || r.Runs() {
		t.Errorf("Exit = %+v, runs: %t, want a timeout and no program", out.Exit, r.Runs())
	}
	wantNoDeath(t, gone)
}

// wantNoDeath: a program that was ended has not died by itself.
func wantNoDeath(t *testing.T, gone <-chan struct{}) {
	t.Helper()
	select {
	case <-gone:
		t.Error("a program that was ended is said to have died")
	default:
	}
}

// TestResidentStop: a stop in a turn ends the program, and one behind it does not.
func TestResidentStop(t *testing.T) {
	for name, end := range map[string]func(*attempt.Attempt){"Stop": (*attempt.Attempt).Stop, "Kill": (*attempt.Attempt).Kill} {
		t.Run(name, func(t *testing.T) {
			r := stay(t)
			before := ask(t, r, "remember", "")
			a := attempt.Start(callOf(t, r, message{"say", "done"}))
			<-a.Done()
			end(a)
			if after := ask(t, r, "remember", ""); !strings.HasPrefix(after, strings.TrimSpace(before)) {
				t.Errorf("the end of an attempt that was over has ended the program %s", before)
			}
			hanging := make(chan struct{})
			c := callOf(t, r, message{"hang", ""})
			c.Emit = func(agent.Event) { close(hanging) }
			a = attempt.Start(c)
			<-hanging
			end(a)
			<-a.Done()
			out, err := a.Wait()
			if err != nil || !out.IsStopped() || out.Reply != nil || out.Failure != nil || r.Runs() {
				t.Errorf("Ended = %+v, %v, runs: %t, want it to be stopped", out, err, r.Runs())
			}
		})
	}
}

// TestResidentStoppedBefore: an attempt that waits for its turn is stopped alone.
func TestResidentStoppedBefore(t *testing.T) {
	r := stay(t)
	hanging := make(chan struct{})
	c := callOf(t, r, message{"hang", ""})
	c.Emit = func(agent.Event) { close(hanging) }
	first := attempt.Start(c)
	<-hanging
	second := attempt.Start(callOf(t, r, message{"say", ""}))
	second.Stop()
	<-second.Done()
	if out, err := second.Wait(); err != nil || !out.IsStopped() || !r.Runs() {
		t.Errorf("Ended = %+v, %v, runs: %t, want it to be stopped alone", out, err, r.Runs())
	}
	first.Kill()
	<-first.Done()
}

// TestResidentTimeLimit: the run's time limits a turn, too.
func TestResidentTimeLimit(t *testing.T) {
	r := stay(t)
	c := callOf(t, r, message{"hang", ""})
	c.Limits.Run = 100 * time.Millisecond
	out, err := attempt.Run(t.Context(), t.Context(), c)
	if err != nil || out.Cut != attempt.ByTime || r.Runs() {
		t.Errorf("Run = %+v, %v, want it to be out of time", out, err)
	}
}

// TestResidentIsMetered: the bound of the output is that of each attempt.
func TestResidentIsMetered(t *testing.T) {
	r := stay(t)
	for range 3 {
		c := callOf(t, r, message{"say", strings.Repeat("x", 600)})
		c.Invocation.MaxOutput = 1000
		if out := run(t, c); out.Reply == nil {
			t.Fatalf("Run = %v, want a reply", out.Failure)
		}
	}
	c := callOf(t, r, message{"flood", ""})
	c.Invocation.MaxOutput = 1 << 20
	wantFailure(t, run(t, c), "it printed more than 1 MiB and was stopped")
}

// record is where all goes that an attempt says.
type record struct {
	mu     sync.Mutex
	events []string
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func (r *record) of(c attempt.Spec, secret string) attempt.Spec {
	c.Sinks = attempt.Sinks{Stdout: &r.stdout, Stderr: &r.stderr, Redactor: redact.New([]string{secret})}
	c.Emit = func(e agent.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e.String())
	}
	return c
}

// TestResidentIsRedacted: nothing shows a secret, and each attempt gets what was printed for it.
func TestResidentIsRedacted(t *testing.T) {
	const secret = "Zq8vT1mLw93KxY7bNc5RdF2hJ6pG4sA0uE9wQ3tB"
	r := stay(t)
	var first, second record
	out := run(t, first.of(callOf(t, r, message{"report", "it is " + secret}), secret))
	if out.Reply == nil || out.Stderr != "it is "+redact.Mark+"\n" || first.stderr.String() != out.Stderr {
		t.Errorf("Run = %+v, %v, and %q on standard error, want it redacted", out, out.Failure, first.stderr.String())
	}
	out = run(t, second.of(callOf(t, r, message{"print", `{"status":"` + secret + `","message":""}`}), secret))
	wantFailure(t, out, "status")
	if got, want := second.stdout.String(), `{"status":"`+redact.Mark+`","message":""}`+"\n"; got != want || out.Received+"\n" != want {
		t.Errorf("stdout is %q, Received %q, want %q", got, out.Received, want)
	}
	if len(first.events) == 0 || len(second.events) == 0 || second.stderr.Len() > 0 || strings.Contains(first.stdout.String(), "status\":\""+redact.Mark) {
		t.Errorf("events %q and %q, the second one's stderr %q, want each attempt's own", first.events, second.events, second.stderr.String())
	}
	all := fmt.Sprint(first.events, second.events, out.Failure.Reason, out.Received, first.stdout.String())
	answer, err := r.Ask(t.Context(), []byte(`{"do":"say","text":"`+secret+`"}`+"\n"), never, attempt.Sinks{Stdout: &first.stdout, Redactor: redact.New([]string{secret})})
	if err != nil || answer != reply(redact.Mark) {
		t.Errorf("Ask = %s, %v, want the answer redacted", answer, err)
	}
	if all += answer + first.stdout.String(); strings.Contains(all, secret[:8]) || !strings.Contains(first.stdout.String(), answer) {
		t.Errorf("the secret is shown, or the goodbye not kept: %s", all)
	}
}

// TestResidentUnasked: what a program prints between two messages is not
// the answer to the next one.
func TestResidentUnasked(t *testing.T) {
	t.Run("behind the answer", func(t *testing.T) {
		r := stay(t)
		if got := ask(t, r, "twice", ""); got != "the answer" {
			t.Errorf("the reply is %q, want the first line", got)
		}
		if got := ask(t, r, "say", "second"); got != "second" {
			t.Errorf("the reply is %q, want that to the second message", got)
		}
	})
	t.Run("half a line", func(t *testing.T) {
		r := stay(t)
		ask(t, r, "begin", "")
		if got := ask(t, r, "end", ""); got != "the second answer" {
			t.Errorf("the reply is %q, want the line that was begun behind the message", got)
		}
	})
	t.Run("later", func(t *testing.T) {
		needFlush(t)
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that the output is not read at once
		for range 20 {
			r := stay(t)
			file := filepath.Join(t.TempDir(), "printed")
			var pid int
			_, _ = fmt.Sscan(ask(t, r, "later", file), &pid)
			_ = syscall.Kill(pid, syscall.SIGUSR1)
			next := callOf(t, r, message{"say", "second"})
			for errors.Is(stat(file), os.ErrNotExist) {
			}
			if got := run(t, next).Reply; got == nil || got.Message != "second" {
				t.Fatalf("the reply is %+v, want that to the second message", got)
			}
		}
	})
}

// needFlush skips what only a system can do that says what is in a pipe.
func needFlush(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("this system does not tell what is in a pipe")
	}
}

func stat(path string) error {
	_, err := os.Stat(path)
	return err
}

// TestResidentReports: what a program has printed on standard error before its
// answer belongs to the attempt.
func TestResidentReports(t *testing.T) {
	needFlush(t)
	r := stay(t)
	for i := range 50 {
		if out := run(t, callOf(t, r, message{"report", fmt.Sprint(i)})); out.Stderr != fmt.Sprintln(i) {
			t.Fatalf("Stderr = %q, want %d", out.Stderr, i)
		}
	}
}

// broken is a sink that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestResidentBrokenSink: it ends the attempt, with its error, and not the reading of the program.
func TestResidentBrokenSink(t *testing.T) {
	r := stay(t)
	c := callOf(t, r, message{"say", ""})
	c.Sinks.Stdout = broken{}
	if out, err := attempt.Run(t.Context(), t.Context(), c); err == nil || !strings.Contains(err.Error(), "disk full") || r.Runs() {
		t.Errorf("Run = %+v, %v, runs: %t, want the error of the sink", out, err, r.Runs())
	}
	ask(t, r, "say", "")
}

// TestResidentClose: however deaf the program is, it ends, and in bounded time.
func TestResidentClose(t *testing.T) {
	r := attempt.NewResident(50 * time.Millisecond)
	if answer, err := r.Ask(t.Context(), []byte("{}"), never, attempt.Sinks{Redactor: redact.New(nil)}); answer != "" || err != nil {
		t.Errorf("Ask without a program = %q, %v, want nothing", answer, err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Errorf("Close without a program = %v, want nothing", err)
	}
	ask(t, r, "deaf", "")
	gone := r.Exited()
	if answer, err := r.Ask(t.Context(), []byte("{}"), 50*time.Millisecond, attempt.Sinks{Redactor: redact.New(nil)}); answer != "" || err != nil || !r.Runs() {
		t.Errorf("Ask = %q, %v, runs: %t, want no answer", answer, err, r.Runs())
	}
	if err := r.Close(t.Context()); err != nil || r.Runs() {
		t.Errorf("Close = %v, runs: %t, want an end", err, r.Runs())
	}
	wantNoDeath(t, gone)
}

// TestResidentCloseIsMetered: a program that prints without end is not waited for.
func TestResidentCloseIsMetered(t *testing.T) {
	r := attempt.NewResident(never)
	ask(t, r, "say", "")
	var errs count
	if answer, err := r.Ask(t.Context(), []byte(`{"do":"flood"}`), never, attempt.Sinks{Stderr: &errs, Redactor: redact.New(nil)}); answer != "" || err != nil || errs.n.Load() > 32<<20 || errs.n.Load() < 32<<20-100 {
		t.Errorf("Ask = %q, %v, after %d bytes, want an end after 32 MiB, but for what the redactor holds back", answer, err, errs.n.Load())
	}
}

// TestResidentCloseAtOnce: a kill does not wait for the grace.
func TestResidentCloseAtOnce(t *testing.T) {
	r := attempt.NewResident(never)
	ask(t, r, "deaf", "")
	kill, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := r.Close(kill); err != nil || r.Runs() {
		t.Errorf("Close = %v, runs: %t, want an end", err, r.Runs())
	}
}

// TestResidentCloseInATurn: the attempt that talks to the program ends with it.
func TestResidentCloseInATurn(t *testing.T) {
	r := attempt.NewResident(0)
	hanging := make(chan struct{})
	c := callOf(t, r, message{"hang", ""})
	c.Emit = func(agent.Event) { close(hanging) }
	a := attempt.Start(c)
	<-hanging
	if err := r.Close(t.Context()); err != nil {
		t.Errorf("Close = %v", err)
	}
	<-a.Done()
	out, err := a.Wait()
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, out, "killed by signal: killed")
}

// TestResidentNeedsAnAdapter: one whose program cannot stay is a mistake.
func TestResidentNeedsAnAdapter(t *testing.T) {
	r := stay(t)
	c := callOf(t, r, message{"say", ""})
	c.Adapter = impatient{Adapter: agent.Exec()}
	if out, err := attempt.Run(t.Context(), t.Context(), c); !agent.IsHopeless(err) || r.Runs() {
		t.Errorf("Run = %+v, %v, want a *ConfigError", out, err)
	}
	c = callOf(t, r, message{"say", ""})
	c.Invocation.Argv = []string{filepath.Join(t.TempDir(), "gone")}
	if out, err := attempt.Run(t.Context(), t.Context(), c); !agent.IsHopeless(err) || r.Runs() {
		t.Errorf("Run = %+v, %v, want a *ConfigError", out, err)
	}
}

// TestResidentSleeps: a program that waits for a message costs this process nothing.
func TestResidentSleeps(t *testing.T) {
	r := stay(t)
	ask(t, r, "say", "")
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	time.Sleep(300 * time.Millisecond) // the time in which it is measured
	if d := used() - before; d > 100*time.Millisecond {
		t.Errorf("300 ms of sleep took %v of the processor, want none", d)
	}
}
