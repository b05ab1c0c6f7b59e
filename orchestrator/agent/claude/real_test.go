//go:build unix

package claude_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/agent/modeltest"
)

// real is the real claude with a model that does what a test says.
type real struct {
	server     *modeltest.Server
	assignment agent.Assignment
	mu         sync.Mutex
	events     []agent.Event
	stdout     bytes.Buffer
}

const task = `{"task_file":"tasks/a.md","kanban_file":"kanban.yaml"}`

func start(t *testing.T) *real {
	t.Helper()
	path := modeltest.Find(t, "claude")
	t.Parallel()
	s := modeltest.Start(t)
	return &real{server: s, assignment: agent.Assignment{Role: "Implementor", Contract: agent.TaskContract, Input: []byte(task), Command: []string{path},
		Dir: t.TempDir(), Scratch: t.TempDir(), Env: s.Env(t, "claude"), Timeout: time.Minute, Grace: 5 * time.Second}}
}

// play gives the model its part: the role's prompt is what only the model reads.
func (r *real) play(steps ...modeltest.Step) { r.assignment.Prompt = modeltest.Play(steps...).String() }

func (r *real) note(e agent.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *real) said(kind agent.Kind) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, e := range r.events {
		if e.Kind == kind {
			all = append(all, e.String())
		}
	}
	return strings.Join(all, "\n")
}

func (r *real) run(t *testing.T) (*agent.Outcome, error) {
	t.Helper()
	return r.runUntil(t, t.Context())
}

func (r *real) runUntil(t *testing.T, stop context.Context) (*agent.Outcome, error) {
	t.Helper()
	if err := claude.New().Check(r.assignment); err != nil {
		t.Fatalf("Check = %v", err)
	}
	inv, err := claude.New().Invoke(r.assignment)
	if err != nil {
		t.Fatalf("Invoke = %v", err)
	}
	return agent.Converse(stop, t.Context(), claude.New(), &inv, r.assignment.Contract, agent.Sinks{Stdout: &r.stdout}, r.note)
}

func TestRealReply(t *testing.T) {
	r := start(t)
	r.play(modeltest.WriteFile(filepath.Join(r.assignment.Dir, "out.txt"), "hello\n"),
		modeltest.Structured(map[string]string{"status": "blocked", "message": "said ✓"}))
	out, err := r.run(t)
	if err != nil || out.Reply == nil {
		t.Fatalf("Converse = %+v, %v, %v", out, out.Failure, err)
	}
	if out.Reply.Status != agent.Blocked || out.Reply.Message != "said ✓" {
		t.Errorf("Reply = %+v, want what the model said", out.Reply)
	}
	if data, err := os.ReadFile(filepath.Join(r.assignment.Dir, "out.txt")); err != nil || string(data) != "hello\n" {
		t.Errorf("out.txt = %q, %v, want what the tool wrote", data, err)
	}
	if s := out.Spent; s == nil || s.Input != 2000 || s.Output != 100 || s.Cost == nil || *s.Cost <= 0 || out.Cumulative {
		t.Errorf("Spent = %+v, want two answers' tokens and a price, of this attempt only", out.Spent)
	}
	if got := r.said(agent.ToolStarted); !strings.Contains(got, "Write: "+filepath.Join(r.assignment.Dir, "out.txt")) {
		t.Errorf("tools = %q, want the file that was written", got)
	}
	if out.Session == "" || r.said(agent.Session) == "" || r.said(agent.Warning) != "" {
		t.Errorf("Session = %q, warnings = %q", out.Session, r.said(agent.Warning))
	}
}
