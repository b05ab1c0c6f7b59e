package projection

import (
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/redact"
)

// TestCommandsAgain: boards that only have to be run again are named in one command for each set of flags and each
// folder in which the command was given. A flag whose value is hidden is named beside it.
func TestCommandsAgain(t *testing.T) {
	board := func(path string, who Who, c *event.Command) *Board { return &Board{Board: path, Who: who, command: c} }
	got := CommandsAgain([]*Board{
		board("a.yaml", RunAgain, &event.Command{Flags: []string{"--keep-going"}, Dir: ".", Board: "a.yaml"}),
		board("b.yaml", Decide, &event.Command{Flags: []string{"--keep-going"}, Dir: ".", Board: "b.yaml"}),
		board("sub/c d.yaml", RunAgain, &event.Command{Flags: []string{"--keep-going"}, Dir: "..", Board: "sub/c d.yaml"}),
		board("d.yaml", RunAgain, &event.Command{Flags: []string{"--exec=sh x " + redact.Mark, "--jobs=2"}, Dir: ".", Board: "d.yaml"}),
		board("e.yaml", RunAgain, nil),
		board("/far/f.yaml", RunAgain, &event.Command{Dir: "..", Board: "far/f.yaml"}),
	})
	want := []string{
		"kanban-run --keep-going a.yaml 'sub/c d.yaml'",
		"kanban-run --jobs=2 d.yaml  # and --exec",
		"kanban-run e.yaml",
		"cd / && kanban-run far/f.yaml",
	}
	if len(got) != len(want) {
		t.Fatalf("%d commands, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if text := got[i].Text(); text != want[i] {
			t.Errorf("command %d is %q, want %q", i, text, want[i])
		}
	}
}

// TestRunBy: a board that a command has not begun is run again by that command.
func TestRunBy(t *testing.T) {
	b := Board{Board: "k.yaml"}
	b.RunBy(&event.Command{Flags: []string{"--jobs=2"}, Dir: ".", Board: "k.yaml"})
	b.RunBy(nil)
	if got, want := b.CommandLine(), "kanban-run --jobs=2 k.yaml"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
