package agenttest

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/redact"
)

// conversation is one attempt and its circumstances.
type conversation struct {
	adapter    agent.Adapter
	assignment agent.Assignment
	stopAt     string // text on standard error at which to stop the attempt
	killToo    bool
	stdout     bytes.Buffer
	stderr     *watcher
	mu         sync.Mutex
	events     []agent.Event
}

// watcher keeps all bytes that are written to it. It calls the function in the field "saw" once, as
// soon as these bytes contain the text in the field "want".
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
	if w.saw != nil && w.want != "" && strings.Contains(w.buf.String(), w.want) {
		w.saw()
		w.saw = nil
	}
	return len(p), nil
}

func (c *conversation) run(t *testing.T) *attempt.Ended {
	t.Helper()
	if err := c.adapter.Check(c.assignment); err != nil {
		t.Fatalf("Check = %v, want nil", err)
	}
	inv, err := c.adapter.Invoke(c.assignment)
	if err != nil {
		t.Fatalf("Invoke = %v, want nil", err)
	}
	stop, cancelStop := context.WithCancel(context.Background())
	defer cancelStop()
	kill, cancelKill := context.WithCancel(context.Background())
	defer cancelKill()
	c.stderr = &watcher{want: c.stopAt, saw: func() {
		cancelStop()
		if c.killToo {
			cancelKill()
		}
	}}
	sinks := attempt.Sinks{Stdout: &c.stdout, Stderr: c.stderr, Redactor: redact.New(nil)}
	out, err := attempt.Run(stop, kill, attempt.Spec{
		Adapter:    c.adapter,
		Invocation: inv,
		Contract:   c.assignment.Contract,
		Sinks:      sinks,
		Emit:       c.note,
	})
	if err != nil {
		t.Fatalf("Converse = %v, want nil", err)
	}
	return out
}

func (c *conversation) note(e agent.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
}
