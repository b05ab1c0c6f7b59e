package roster

import (
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/testfile"
	"kanban-run/roles"
)

// TestDryRunStartsNoProgram: in a dry run each role replies within the process, whatever would play it. A real run
// starts the stub that it names, and rules of a stub, which may crash, are played in a process of their own.
func TestDryRunStartsNoProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no tool is installed
	dir := t.TempDir()
	set, err := roles.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	rules := testfile.Write(t, dir+"/stub.yaml", "[]")
	for name, tt := range map[string]struct {
		settings  config.Settings
		dry, want bool
	}{
		"a dry run":              {config.Settings{}, true, true},
		"a dry run of codex":     {config.Settings{Agent: "codex"}, true, true},
		"a dry run with rules":   {config.Settings{Stub: rules}, true, false},
		"a run with stub agents": {config.Settings{Agent: "stub"}, false, false},
	} {
		r := &Roster{Settings: &tt.settings, Roles: set, Executable: "/bin/true", DryRun: tt.dry}
		for _, role := range []string{"Implementor", "Manager"} {
			p, err := r.Player(role, dir)
			if err != nil {
				t.Errorf("%s: %s: %v", name, role, err)
				continue
			}
			inv, err := p.Adapter.Invoke(agent.Assignment{Role: role, Dir: dir})
			if got := inv.Func != nil; err != nil || got != tt.want {
				t.Errorf("%s: %s replies within the process: %t, %v, want %t", name, role, got, err, tt.want)
			}
		}
	}
}
