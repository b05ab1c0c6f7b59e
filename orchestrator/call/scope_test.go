package call

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/turns"
)

// TestScope: seed 001, "Role Isolation Rules": a supervisor that says that it wrote a file, or that left a
// process running, has no verdict. What is only found changed is told, or nothing where the board is changed
// or git ignores the file; files of the run are put back.
func TestScope(t *testing.T) {
	const report, other, wisdom = ".kanban-run/runs/k.yaml/artifacts/CHECKPOINT-001-report.md",
		".kanban-run/runs/k.yaml/artifacts/CHECKPOINT-009-report.md", ".kanban-run/runs/k.yaml/wisdom/w.md"
	writes := func(file string, failed bool) []agent.Event {
		return []agent.Event{{Kind: agent.ToolStarted, Class: agent.EditTool, ID: "1", Tool: "Write", Text: file},
			{Kind: agent.ToolEnded, ID: "1", Failed: failed}}
	}
	for name, tt := range map[string]struct {
		change  string // file
		says    []agent.Event
		spawned []string
		files   string // of the violation
		beside  bool   // another board is worked on meanwhile
		told    string
		back    bool // the change is put back
	}{
		"nothing":                      {},
		"a file":                       {change: "c.go", told: "files changed while Supervisor looked at CHECKPOINT-001: c.go"},
		"a file, beside another board": {change: "c.go", beside: true},
		"a file, as it says":           {change: "c.go", says: writes("c.go", false), files: "c.go", told: "c.go"},
		"a file that is not written":   {says: writes("c.go", true)},
		"the board":                    {change: "k.yaml"},
		"another board":                {change: "sub/other.yaml"},
		"what a run of it writes":      {change: "sub/.other.yaml.tmp-0123456789abcdef"},
		"the folder of its runs":       {change: "new/.kanban-run"},
		"a file like that":             {change: ".c.go.tmp-0123456789abcdef", told: ".c.go.tmp-0123456789abcdef"},
		"what git ignores":             {change: "c.swp"},
		"its own report":               {change: report, says: writes(report, false)},
		"another report":               {change: other, told: "files of the run changed", back: true},
		"less wisdom":                  {change: wisdom, told: "files of the run changed", back: true},
		"a process":                    {spawned: []string{"sleep (7)"}, files: "process sleep (7)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			git(t, r.dir)
			r.write(t, ".gitignore", "*.swp\n")
			r.write(t, wisdom, "wise\n")
			for _, folder := range []string{"sub/.kanban-run/runs/other.yaml", "new"} {
				if err := os.MkdirAll(filepath.Join(r.dir, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			r.open(event.CheckpointCall)
			a := r.start(t)
			const changed = "current: b.md\ntasks: [a.md, b.md]\n# changed\n"
			if tt.change != "" {
				r.write(t, tt.change, changed)
				r.Workspace.Forget()
			}
			for _, ev := range tt.says {
				a.noteWrite(ev)
			}
			files := r.violations(a, tt.spawned)
			turn := r.turnOf(a)
			if tt.beside {
				turn.Others = []turns.Turn{{Board: "other.yaml", Task: "1.md"}}
			}
			if err := r.Scope().End(turn); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(files, " "); got != tt.files {
				t.Errorf("violated by %q, want %q", got, tt.files)
			}
			if got := strings.Join(r.notices.told, ""); !strings.Contains(got, tt.told) || (got == "") != (tt.told == "") {
				t.Errorf("told %q, want %q", got, tt.told)
			}
			if tt.change != "" {
				now, _ := os.ReadFile(filepath.Join(r.dir, tt.change))
				kept, err := os.ReadDir(r.Folder.TasksAfter())
				if (string(now) == changed) == tt.back || (err == nil && len(kept) == 1) != tt.back {
					t.Errorf("%s is %q, kept: %v", tt.change, now, kept)
				}
			}
			_ = r.Scope().End(r.turnOf(a))
			if n := len(r.notices.told); tt.told != "" && n != 1 {
				t.Errorf("told %d times", n)
			}
			if files == nil {
				return
			}
			e := r.accuse(a, &attempt.Ended{Session: "s"}, files)
			if err := r.record(a, e); err != nil || !strings.Contains(e.Text, tt.files) || e.Left != r.board.SHA {
				t.Errorf("accused %+v, %v", e, err)
			}
		})
	}
}

// git makes a repository.
func git(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Skipf("git init: %v: %s", err, out)
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
