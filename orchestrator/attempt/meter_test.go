package attempt_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/redact"
)

// count is a sink that counts.
type count struct{ n atomic.Int64 }

func (c *count) Write(p []byte) (int, error) { c.n.Add(int64(len(p))); return len(p), nil }

// TestOutputIsBounded: an agent that prints without end is stopped, and the attempt failed for that
// reason; nothing over the bound reaches the sinks.
func TestOutputIsBounded(t *testing.T) {
	for _, stream := range []string{"", " >&2"} {
		var out, errs count
		inv := agent.Invocation{Argv: []string{"/bin/sh", "-c", "yes" + stream}, Dir: t.TempDir(), MaxOutput: 3 << 20, Timeout: time.Minute}
		got, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: agent.Exec(), Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Stdout: &out, Stderr: &errs, Redactor: redact.New(nil)}})

		if err != nil || got.IsStopped() || got.Failure == nil || !strings.Contains(got.Failure.Reason, "it printed more than 3 MiB and was stopped") {
			t.Errorf("yes%s: outcome %+v, %v; want a failure that says why", stream, got, err)
		}
		if n := out.n.Load() + errs.n.Load(); n != 3<<20 {
			t.Errorf("yes%s: the sinks got %d bytes, want all up to the bound", stream, n)
		}
	}
}

// TestOutputAtTheBound: the bound itself is allowed.
func TestOutputAtTheBound(t *testing.T) {
	reply := `{"status":"ok","message":""}`
	inv := agent.Invocation{Argv: []string{"/bin/sh", "-c", "printf '%s' '" + reply + "'"}, Dir: t.TempDir(), MaxOutput: int64(len(reply))}
	got, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: agent.Exec(), Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New(nil)}})
	if err != nil || got.Failure != nil || got.Reply == nil {
		t.Errorf("outcome %+v, %v; want the reply", got, err)
	}
}

// TestStoppedWinsOverTooMuch: a run that is stopped is stopped, whatever its agent printed. Here it
// is stopped while its agent, which has printed too much, does not end when it is asked to.
func TestStoppedWinsOverTooMuch(t *testing.T) {
	inv := agent.Invocation{Argv: []string{"/bin/sh", "-c", "trap ': >asked' TERM; echo too much; while :; do sleep 0.01; done"}, Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH")}, MaxOutput: 3, Grace: time.Hour, Timeout: time.Minute}
	stop, cancel := context.WithCancel(context.Background())
	kill, cancelKill := context.WithCancel(context.Background())
	defer cancelKill()
	go func() {
		for pause := time.Millisecond; kill.Err() == nil; pause = min(pause*3/2, 20*time.Millisecond) {
			if _, err := os.Stat(filepath.Join(inv.Dir, "asked")); err == nil {
				cancel()
				cancelKill()
			}
			time.Sleep(pause)
		}
	}()
	got, err := attempt.Run(stop, kill, attempt.Spec{Adapter: agent.Exec(), Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New(nil)}})
	if err != nil || !got.IsStopped() || got.Failure != nil {
		t.Errorf("outcome %+v, %v; want stopped", got, err)
	}
}
