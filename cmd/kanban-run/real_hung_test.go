//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
)

// impatient scales the times of the watch: a real tool needs some seconds for its start.
const impatient = `watch:
  frequency: 500ms
  grace: 0
  progress_stale: 0
  idle_warning: 3s
  idle_timeout: 6s
  model_warning: 3s
  model_timeout: 6s
  answer: 1s
  first_sign: 20s
  left_over: 5s
  ceiling: 8s
  mcp_timeout: {default: 1s, max: 2s, end: 5s}
`

// hangsOnce has the model do something hopeless in the first conversation, and
// its work in the next one.
func (s *realSite) hangsOnce(steps ...modeltest.Step) {
	var hung atomic.Bool
	s.write(".kanban-run.yaml", s.read(".kanban-run.yaml")+impatient)
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		if taskOf(said) != "" && hung.CompareAndSwap(false, true) {
			return modeltest.Play(steps...), true
		}
		return s.work(q, said)
	})
}

func (s *realSite) restartsNothing() {
	s.t.Helper()
	if strings.Contains(s.read("output"), "started again") {
		s.t.Errorf("the agent was restarted:\n%s", s.read("output"))
	}
}

// TestRealHung is seed 000 with real tools: an API that accepts and never answers, or stops in the
// middle of a message, is noticed, and the agent goes on in its session.
func TestRealHung(t *testing.T) {
	t.Parallel()
	for how, step := range map[string]modeltest.Step{"silent": modeltest.Hang(), "stalled": modeltest.Stall()} {
		t.Run(how, func(t *testing.T) {
			onEach(t, func(t *testing.T, name string) {
				s := newReal(t, name, 1)
				s.hangsOnce(step)
				s.run(exitComplete)
				s.says("its model has not answered for", "is ended and started again")
				if !strings.Contains(s.read("output"), "goes on in its session") && !strings.Contains(s.read("output"), "started (attempt") {
					t.Errorf("the agent was not started again:\n%s", s.read("output"))
				}
			}, "gemini", "opencode", "acp")
		})
	}
}

// TestRealFlatCommand: a shell command that waits for ever without any work is ended alone: the
// turn goes on, and nothing is restarted.
func TestRealFlatCommand(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.hangsOnce(modeltest.Shell("sleep 600"))
		s.run(exitComplete)
		s.says("does no work; its command is asked to end", "Implementor ok in")
		s.restartsNothing()
	}, "gemini", "opencode", "acp")
}

// TestRealHungMCP: an MCP server that never answers a call costs its agent
// the call, and not the night.
func TestRealHungMCP(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.write("mcp.json", fmt.Sprintf(`{"mcpServers": {"lab": {"command": %q, "args": [%q, %q]}}}`, self, labCommand, s.path("noted")))
		s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\nmcp_config: mcp.json\npermission: full\n---\nWork.\n")
		s.hangsOnce(modeltest.Tool("mcp__lab__note", map[string]any{"text": "hang"}))
		s.run(exitComplete)
		s.says("MCP stuck: its call of ", "Implementor ok in")
		if name == "claude" {
			s.says("; the call is ended", "mcp__lab__note failed: Connection closed")
		} else { // it ends the call itself, before a second look finds it
			s.says("timed out awaiting tools/call after 5s")
		}
		s.restartsNothing()
	}, "gemini", "opencode", "acp")
}

// TestRealJudge: a real tool judges a hung one, in the form of its schema, and the work goes on:
// seed 000, "5-Question Reboot Test".
func TestRealJudge(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 1)
		s.write(".kanban-run.yaml", s.read(".kanban-run.yaml")+impatient+"  judge: Judge\n")
		s.write(".kanban-run/roles/judge.md", "---\nname: Judge\n---\nAnswer the five questions.\n")
		yes, no := map[string]any{"yes": true, "evidence": "so it is"}, map[string]any{"yes": false, "evidence": "it is not"}
		var hung atomic.Bool
		s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
			switch {
			case strings.Contains(said, `"reboot_test"`):
				return modeltest.Play(modeltest.Structured(map[string]any{"q1": yes, "q2": yes, "q3": no, "q4": no, "q5": yes, "message": "Begin with the tests."})), true
			case taskOf(said) != "" && hung.CompareAndSwap(false, true):
				return modeltest.Play(modeltest.Hang()), true
			}
			return s.work(q, said)
		})
		s.run(exitComplete)
		s.says("Judge judges Implementor: ", "Judge says Q1 yes, Q2 yes, Q3 no, Q4 no, Q5 yes", "Begin with the tests.", "is ended and started again")
	}, "gemini", "opencode", "acp")
}
