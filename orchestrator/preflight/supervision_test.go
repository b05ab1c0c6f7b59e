package preflight

import (
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/claude"
	"kanban-run/orchestrator/agent/codex"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/roster"
)

// TestSupervision: the board's declaration replaces that of the settings as a whole.
func TestSupervision(t *testing.T) {
	own, general := &flow.Supervision{Role: "own"}, &flow.Supervision{Role: "general"}
	for _, tt := range []struct {
		name  string
		board board.Board
		setup Setup
		want  *flow.Supervision
	}{
		{"neither", board.Board{}, Setup{}, nil},
		{"the settings", board.Board{}, Setup{Checkpoints: general}, general},
		{"the board", board.Board{Checkpoints: own}, Setup{Checkpoints: general}, own},
		{"off", board.Board{CheckpointsOff: true}, Setup{Checkpoints: general}, nil},
	} {
		if got := supervision(&tt.board, &tt.setup); got != tt.want {
			t.Errorf("%s: supervision = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestMayWrite: a supervisor that looks only is set up so that it can do nothing else.
func TestMayWrite(t *testing.T) {
	for _, tt := range []struct {
		name string
		tool agent.Adapter
		set  agent.Assignment
		want bool
	}{
		{"all tools", claude.New(), agent.Assignment{}, true},
		{"no tools", claude.New(), agent.Assignment{Tools: []string{}}, false},
		{"readers", claude.New(), agent.Assignment{Tools: []string{"Read", "Grep"}}, false},
		{"a writer", claude.New(), agent.Assignment{Tools: []string{"Read", "Edit"}}, true},
		{"a shell", claude.New(), agent.Assignment{Tools: []string{"Bash"}}, true},
		{"picked commands", claude.New(), agent.Assignment{Tools: []string{"Bash(git log:*)"}}, false},
		{"picked files", claude.New(), agent.Assignment{Tools: []string{"Write(docs/*)"}}, true},
		{"a writer that is denied", claude.New(), agent.Assignment{Tools: []string{"Read", "Edit"}, Denied: []string{"Edit"}}, false},
		{"all tools, and one is denied", claude.New(), agent.Assignment{Denied: []string{"Edit"}}, true},
		{"a permission to read", claude.New(), agent.Assignment{Permission: agent.ReadOnly}, false},
		{"a permission to edit", claude.New(), agent.Assignment{Permission: agent.Edit, Tools: []string{"Read"}}, true},
		{"another tool", codex.New(), agent.Assignment{}, false},
		{"another tool with a permission", codex.New(), agent.Assignment{Permission: agent.Full}, true},
		{"a program", agent.Exec(), agent.Assignment{}, false},
	} {
		if got := mayWrite(&roster.Player{Adapter: tt.tool, Assignment: tt.set}); got != tt.want {
			t.Errorf("%s: mayWrite = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestLooksLikeFile(t *testing.T) {
	for text, want := range map[string]bool{"docs/goal.md": true, "goal.txt": true, "": false, "a site for cats.md": false,
		"Cats.": false, "cats": false, "docs/goal": false} {
		if got := looksLikeFile(text); got != want {
			t.Errorf("looksLikeFile(%q) = %v, want %v", text, got, want)
		}
	}
}
