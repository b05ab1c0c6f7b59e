package roster

import (
	"os"
	"path/filepath"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/config"
	"kanban-run/roles"
)

// TestSupervisorMayOnlyRead: whichever tool plays it, the resident supervisor has the permission
// read-only, unless its role asks for more or the tool knows no permission: seed 001, "Role
// Isolation Rules".
func TestSupervisorMayOnlyRead(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no tool is installed
	dir := t.TempDir()
	for name, header := range map[string]string{
		"Acp":    "agent: acp\ncommand: [/bin/true]",
		"Edits":  "agent: acp\ncommand: [/bin/true]\npermission: edit",
		"Claude": "agent: claude\ncommand: [/bin/true]",
		"Script": "agent: exec\ncommand: [/bin/true]",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte("---\nname: "+name+"\n"+header+"\n---\nLook.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := roles.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &Roster{Settings: &config.Settings{}, Roles: set, Executable: "/bin/true"}
	for name, want := range map[string]agent.Permission{"Acp": agent.ReadOnly, "Edits": agent.Edit, "Claude": agent.ReadOnly, "Script": ""} {
		p, err := r.ReadOnlyPlayer(name, dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := p.Assignment.Permission; got != want {
			t.Errorf("%s may do %q, not %q", name, got, want)
		}
		if p, err = r.Player(name, dir); err == nil && name == "Acp" && p.Assignment.Permission != "" {
			t.Errorf("%s at work may do %q", name, p.Assignment.Permission)
		}
	}
}
