package streamtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/modeltest"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
)

// Real is an adapter with the real program, which talks to a fake model and works in a new
// directory.
type Real struct {
	agent.Adapter
	Assignment agent.Assignment
	Server     *modeltest.Server
}

// Start returns an adapter with the real program, or skips the test as modeltest.Find does. It
// makes the test run in parallel.
func Start(t *testing.T, name string, a agent.Adapter) *Real {
	t.Helper()
	path := modeltest.Find(t, name)
	t.Parallel()
	if err := proc.Adopt(); err != nil {
		t.Fatal(err)
	}
	s := modeltest.Start(t)
	return &Real{Adapter: a, Server: s, Assignment: agent.Assignment{
		Role:     "Implementor",
		Prompt:   "You are the Implementor.",
		Command:  []string{path},
		Contract: contract.Instruction,
		Dir:      t.TempDir(),
		Scratch:  t.TempDir(),
		Env:      s.Env(t, name),
		Timeout:  2 * time.Minute,
		Grace:    5 * time.Second,
	}}
}

// Conversation is an ended conversation.
type Conversation struct {
	*attempt.Ended
	Err    error
	Events []agent.Event
	Stdout string
}

// Play sends an instruction with a script, and waits for the agent's end.
func (r *Real) Play(t *testing.T, steps ...modeltest.Step) Conversation {
	t.Helper()
	return r.PlayUntil(t, "", steps...)
}

// PlayUntil does the same as Play, but stops the conversation once the file exists in the work
// directory. If file is "", it never stops the conversation.
func (r *Real) PlayUntil(t *testing.T, file string, steps ...modeltest.Step) Conversation {
	t.Helper()
	text := "Please do this: " + modeltest.Play(steps...).String()
	r.Assignment.Input, _ = json.Marshal(map[string]string{"instruction": text})
	if r.Assignment.Follow != nil {
		r.Assignment.Follow.Text = text
	}
	if err := r.Check(r.Assignment); err != nil {
		t.Fatal(err)
	}
	inv, err := r.Invoke(r.Assignment)
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	if file != "" {
		go cancelWhen(stop, cancel, filepath.Join(r.Assignment.Dir, file))
	}
	return Converse(t, stop, r.Adapter, &inv, r.Assignment.Contract)
}

// Converse runs a conversation.
func Converse(t *testing.T, stop context.Context, a agent.Adapter, inv *agent.Invocation,
	c contract.Kind) (h Conversation) {
	t.Helper()
	var mu sync.Mutex
	var stdout bytes.Buffer
	h.Ended, h.Err = attempt.Run(stop, t.Context(), attempt.Spec{
		Adapter:    a,
		Invocation: *inv,
		Contract:   c,
		Sinks:      attempt.Sinks{Stdout: &stdout, Redactor: redact.New(nil)},
		Emit: func(e agent.Event) {
			mu.Lock()
			defer mu.Unlock()
			h.Events = append(h.Events, e)
		},
	})

	h.Stdout = stdout.String()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("ended %+v, failure %v, error %v\nevents %v\nstdout %.6000s\nstderr %s",
				h.Ended, h.Failure, h.Err, h.Events, h.Stdout, h.Stderr)
		}
	})
	return h
}

func cancelWhen(ctx context.Context, cancel func(), path string) {
	for ctx.Err() == nil {
		if _, err := os.Stat(path); err == nil {
			cancel()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// HasEvent reports whether an event of a kind holds a text.
func (h Conversation) HasEvent(kind agent.Kind, text string) bool {
	for _, e := range h.Events {
		if e.Kind == kind && strings.Contains(e.Tool+" "+e.Text, text) {
			return true
		}
	}
	return false
}

// WantReply checks that the reply is ok and has the message.
func (h Conversation) WantReply(t *testing.T, message string) {
	t.Helper()
	if h.Err != nil || h.Failure != nil || h.Reply == nil || h.Reply.Status != contract.OK ||
		h.Reply.Message != message {
		t.Fatalf("Reply = %+v, %v, %v, want ok and %q", h.Reply, h.Failure, h.Err, message)
	}
}

// WantFailure checks that the conversation ended without an error, but with a failure whose reason
// holds the text.
func (h Conversation) WantFailure(t *testing.T, reason string) {
	t.Helper()
	if h.Err != nil || h.Failure == nil || !strings.Contains(h.Failure.Reason, reason) {
		t.Fatalf("Failure = %v, error %v, want a failure with %q", h.Failure, h.Err, reason)
	}
}

// WantErr returns the error of the conversation. It checks that the error has the type E and holds
// the text.
func WantErr[E error](t *testing.T, h Conversation, text string) (err E) {
	t.Helper()
	if !errors.As(h.Err, &err) || !strings.Contains(h.Err.Error(), text) {
		t.Fatalf("error %T %v, want %T with %q", h.Err, h.Err, err, text)
	}
	return err
}

// WantFile checks the text of a file in the work directory.
func (r *Real) WantFile(t *testing.T, name, text string) {
	t.Helper()
	if data, err := os.ReadFile(filepath.Join(r.Assignment.Dir, name)); err != nil || string(data) != text {
		t.Errorf("file %s = %q, %v, want %q", name, data, err, text)
	}
}

// WantNoProcess checks that there is no process whose command line contains the word.
func WantNoProcess(t *testing.T, word string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), word) {
			t.Errorf("%s is left: %q", path, line)
		}
	}
}

// GoodReply returns the step that ends the work with a reply.
func GoodReply(message string) modeltest.Step {
	return modeltest.Structured(map[string]string{"status": "ok", "message": message})
}

// RunsNothing plays an attempt of an agent that may not run commands, in a project with these files,
// which an agent may have written. None of the commands that they name runs (each leaves a file
// ran-NAME), and the model is told the word of the project's instructions.
func RunsNothing(t *testing.T, r *Real, files map[string]string, word string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(r.Assignment.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", r.Assignment.Dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.Assignment.Permission = agent.ReadOnly
	c := r.Play(t, GoodReply("done"))
	if c.Reply == nil {
		t.Errorf("there is no reply: %v %v %s", c.Err, c.Failure, c.Stderr)
	}
	if ran, _ := filepath.Glob(filepath.Join(r.Assignment.Dir, "ran-*")); len(ran) > 0 {
		t.Errorf("it ran %q", ran)
	}
	for _, q := range r.Server.Requests() {
		if strings.Contains(string(q.Body), word) {
			return
		}
	}
	t.Error("the model was not told the project's instructions")
}
