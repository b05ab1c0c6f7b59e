package call

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
)

// TestScope: seed 001, "Role Isolation Rules": a supervisor that changed a file has no verdict, and
// the board gets its bytes back. Where another run may have changed it, that is told and no more.
func TestScope(t *testing.T) {
	for name, tt := range map[string]struct {
		change  string // file
		set     func(*rig, *Attempt)
		spawned []string
		files   string // of the violation
		told    string
	}{
		"nothing":                        {"", nil, nil, "", ""},
		"a file":                         {"c.go", nil, nil, "c.go", ""},
		"the board":                      {"k.yaml", nil, nil, "k.yaml", ""},
		"its own report":                 {".kanban-run/runs/k.yaml/artifacts/CHECKPOINT-001-report.md", nil, nil, "", ""},
		"a process":                      {"", nil, []string{"sleep (7)"}, "process sleep (7)", ""},
		"beside another run":             {"c.go", func(r *rig, _ *Attempt) { r.SharedDir = true }, nil, "", "c.go"},
		"the board, beside another run":  {"k.yaml", func(r *rig, _ *Attempt) { r.SharedDir = true }, nil, "k.yaml", ""},
		"a tool that lets nothing write": {"c.go", func(_ *rig, a *Attempt) { a.Player.Assignment.Permission = agent.ReadOnly }, nil, "", "c.go"},
		"a dry run":                      {"c.go", func(r *rig, _ *Attempt) { r.DryRun = true }, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(event.CheckpointCall)
			a := r.start(t)
			if tt.set != nil {
				tt.set(r, a)
			}
			if tt.change != "" {
				r.write(t, tt.change, "current: b.md\ntasks: [a.md, b.md]\n# changed\n")
				r.Workspace.Forget()
			}
			files := r.violations(a, tt.spawned)
			if got := strings.Join(files, " "); got != tt.files {
				t.Errorf("violated by %q, want %q", got, tt.files)
			}
			if got := strings.Join(r.notices.told, ""); !strings.Contains(got, tt.told) || (got == "") != (tt.told == "") {
				t.Errorf("told %q, want %q", got, tt.told)
			}
			if files == nil {
				return
			}
			e := r.accuse(a, &attempt.Ended{Session: "s"}, files)
			if err := r.record(a, e); err != nil || !strings.Contains(e.Text, tt.files) || e.Left != r.board.SHA {
				t.Errorf("accused %+v, %v", e, err)
			}
			if back := strings.Contains(e.Text, "got its earlier bytes back"); back != (tt.change == "k.yaml") {
				t.Errorf("put back: %t: %s", back, e.Text)
			}
		})
	}
}

// TestLooking: what the supervisor did, for a sentence.
func TestLooking(t *testing.T) {
	ref := event.AttemptRef{Role: "Supervisor", Call: event.ReadyCall, Task: "C1"}
	if got := looking(ref); got != "Supervisor got ready" {
		t.Errorf("looking = %q", got)
	}
	if ref.Call = event.CheckpointCall; looking(ref) != "Supervisor looked at C1" {
		t.Errorf("looking = %q", looking(ref))
	}
}
