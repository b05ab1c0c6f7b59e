package attempt_test

import (
	"context"
	"fmt"
	"io"
	"testing"

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
