package preflight

import (
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
)

// TestSupervision: the board's declaration replaces that of the settings as a whole.
func TestSupervision(t *testing.T) {
	own, general := &event.Supervision{Role: "own"}, &event.Supervision{Role: "general"}
	for _, tt := range []struct {
		name  string
		board board.Board
		setup Setup
		want  *event.Supervision
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

func TestLooksLikeFile(t *testing.T) {
	for text, want := range map[string]bool{"docs/goal.md": true, "goal.txt": true, "": false, "a site for cats.md": false,
		"Cats.": false, "cats": false, "docs/goal": false} {
		if got := looksLikeFile(text); got != want {
			t.Errorf("looksLikeFile(%q) = %v, want %v", text, got, want)
		}
	}
}
