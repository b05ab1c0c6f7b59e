package roster

import (
	"os"
	"path/filepath"
	"testing"

	"kanban-run/orchestrator/config"
	"kanban-run/roles"
)

// TestMaxAttemptCost: the limit of the settings is for the programs that can hold it. A role that asks for one
// itself is refused where its program cannot.
func TestMaxAttemptCost(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no tool is installed
	dir := t.TempDir()
	for name, header := range map[string]string{
		"Claude": "agent: claude\ncommand: [/bin/true]\npermission: read-only",
		"Script": "command: [/bin/true]",
		"Asks":   "command: [/bin/true]\nmax_cost: 1",
		"Walks":  "agent: walk",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte("---\nname: "+name+"\n"+header+"\n---\nWork.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := roles.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &Roster{Settings: &config.Settings{Limits: config.Limits{AttemptCost: 5}}, Roles: set, Executable: "/bin/true"}
	for name, want := range map[string]struct {
		cost     int64
		uncosted bool
	}{"Claude": {5, false}, "Script": {0, true}} {
		p, err := r.Player(name, dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p.Assignment.MaxCost != want.cost || p.Uncosted != want.uncosted {
			t.Errorf("%s: an attempt may cost %d, uncosted %t, want %+v", name, p.Assignment.MaxCost, p.Uncosted, want)
		}
	}
	if _, err := r.Player("Asks", dir); err == nil {
		t.Error("a role that asks for max_cost is played by a program that cannot hold it")
	}
	for name, want := range map[string]string{"Claude": "/bin/true", "Script": "/bin/true", "Walks": "walk", "Implementor": "claude"} {
		role, err := set.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Shown(role, dir); got != want {
			t.Errorf("%s is played by %s, want %s", name, got, want)
		}
	}
}
