//go:build linux

package main

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
)

// watches has the model play a supervisor, too, that warns at its first checkpoint.
func (s *realSite) watches() {
	s.write(".kanban-run.yaml", s.read(".kanban-run.yaml")+"checkpoints: {every: 1, requirement: Three files.}\n")
	if s.name == "acp" {
		s.write(".kanban-run/roles/Supervisor.md", "---\nname: Supervisor\nagent: acp\ncommand: [gemini, --acp]\n---\nLook.\n")
	}
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		request, task := max(strings.LastIndex(said, "## Checkpoint Request"), strings.LastIndex(said, `"type":"checkpoint_request"`)), max(strings.LastIndex(said, `"done_task"`), strings.LastIndex(said, `"task_file":"`))
		begin := strings.LastIndex(said, `"type":"init"`)
		switch {
		case request > task && strings.Contains(said[request:min(len(said), request+100)], "CHECKPOINT-001"):
			return modeltest.Play(modeltest.Structured(verdict("warn", 0.6, "out/1.txt is short"))), true
		case request > task:
			return modeltest.Play(modeltest.Structured(verdict("pass", 0.9, "all is there"))), true
		case begin > task:
			return modeltest.Play(modeltest.Structured(map[string]string{"type": "ready", "message": "Here."})), true
		default:
			return s.work(q, said)
		}
	})
}

func verdict(verdict string, score float64, finding string) map[string]any {
	return map[string]any{"type": "checkpoint_reply", "message": "", "task_id": "", "verdict": verdict, "score": score, "key_findings": []string{finding},
		"decisions": []string{}, "risks": []string{}, "quality_trend": "stable", "artifacts_read": []string{}, "report": "", "wisdom": ""}
}

// TestRealCheckpoints is seed 001 with each of the real agents as the supervisor: it is started
// once, and remembers in its tool's session what it was told, also over the end of a run, if the
// tool has any; the others are told again what they said.
func TestRealCheckpoints(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 3)
		s.watches()
		s.run(exitLimit, "--max-steps", "1")
		s.says("[supervisor] Verdict: warn (score: 0.60)")
		if name != "gemini" { // which remembers nothing
			s.says("Resident supervisor ready")
		}
		s.run(exitComplete)
		s.says("[supervisor] CHECKPOINT-002 complete.", "[supervisor] CHECKPOINT-003 complete.", "[supervisor] Verdict: pass (score: 0.90)")
		recovered := strings.Contains(s.read("output"), "Recovered. Rebuilt context from 1 previous checkpoint reports.")
		if recovered != (name == "acp") || strings.Contains(s.read("output"), "rejected") { // its session ends with its program
			t.Errorf("it was recovered: %t; every reply is right:\n%s", recovered, s.read("output"))
		}
		if got := s.ask("status", "kanban.yaml"); !strings.Contains(got, "CHECKPOINT-001 warn 0.60 (stable), CHECKPOINT-002 pass 0.90 (stable), CHECKPOINT-003 pass 0.90") {
			t.Errorf("status: %s", got)
		}
		s.remembers()
		turns := int64(len(s.model.Requests()))
		if _, used := s.usedBy(); exact(name) && (used.Input != 1000*turns || used.Output != 50*turns) {
			t.Errorf("status says %+v for %d turns of 1000 tokens in and 50 out", used, turns)
		}
	})
}

// remembers checks what the model was told by the last checkpoint: in a session all that came
// before it, once; else its reports.
func (s *realSite) remembers() {
	s.t.Helper()
	all := ""
	for _, q := range s.model.Requests() {
		text := ""
		for _, m := range q.Messages {
			if m.Role == "user" {
				text += m.Text + "\n"
			}
		}
		if strings.Contains(text, "task_id: CHECKPOINT-003") || strings.Contains(text, `"task_id":"CHECKPOINT-003"`) {
			all = text
		}
	}
	want := map[string]int{"tasks/3.md by Implementor": 1, "task_id: CHECKPOINT-003": 1}
	switch s.name {
	case "gemini": // which remembers nothing, and gets JSON
		want = map[string]int{`"task_id":"CHECKPOINT-003"`: 1, "# CHECKPOINT-001: warn": 1, "# CHECKPOINT-002: pass": 1}
	case "acp": // since the second run
		want["# CHECKPOINT-001: warn"], want["task_id: CHECKPOINT-002"] = 1, 1
	default:
		want["tasks/1.md by Implementor"], want["task_id: CHECKPOINT-001"], want["task_id: CHECKPOINT-002"] = 1, 1, 1
	}
	for text, n := range want {
		if got := strings.Count(all, text); got != n {
			s.t.Errorf("at its last checkpoint it knows %q %d times, want %d:\n%s", text, got, n, all)
		}
	}
}
