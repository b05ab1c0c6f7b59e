package attempt_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
)

// TestFunc: what plays in place of a program has both its streams and its exit status.
func TestFunc(t *testing.T) {
	out, err := attempt.Run(t.Context(), t.Context(), attempt.Spec{Adapter: agent.Exec(), Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New(nil)},
		Invocation: agent.Invocation{Func: func(_ context.Context, stdout, stderr io.Writer) proc.Exit {
			fmt.Fprint(stdout, "no reply")
			fmt.Fprint(stderr, "a warning")
			return proc.Exit{Code: 3}
		}}})
	if err != nil || out.Failure == nil || out.Failure.Reason != "exit status 3" || out.Received != "no reply" || out.Stderr != "a warning" {
		t.Errorf("Run = %+v, %v", out, err)
	}
}

// TestTimeLimits: the first limit of time ends the agent, whichever it is.
func TestTimeLimits(t *testing.T) {
	for name, of := range map[string]func(l *attempt.TimeLimits){
		"of the run":   func(l *attempt.TimeLimits) { l.Run = time.Second },
		"of the task":  func(l *attempt.TimeLimits) { l.Task = time.Second },
		"of the clock": func(l *attempt.TimeLimits) { l.Until = time.Now().Add(time.Second) },
	} {
		synctest.Test(t, func(t *testing.T) {
			limits, began := attempt.TimeLimits{Run: time.Hour, Task: time.Hour, Until: time.Now().Add(time.Hour)}, time.Now()
			of(&limits)
			out, err := attempt.Run(t.Context(), t.Context(), attempt.Spec{Adapter: agent.Exec(), Contract: contract.Task, Limits: limits,
				Sinks: attempt.Sinks{Redactor: redact.New(nil)}, Invocation: agent.Invocation{
					Func: func(ctx context.Context, _, _ io.Writer) proc.Exit { <-ctx.Done(); return proc.Exit{} }}})
			if took := time.Since(began); err != nil || out.Cut != attempt.ByTime || took != time.Second {
				t.Errorf("%s: %+v, %v after %s, want the end of its time after 1s", name, out, err, took)
			}
		})
	}
}
