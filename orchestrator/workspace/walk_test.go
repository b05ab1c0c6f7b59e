package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
)

// TestWalkParsesTheBoardOnce: the mark of the finished task and the next one are one edit, and one parse proves both.
// A parse of a long board takes so many allocations that those of a decision tell their number.
func TestWalkParsesTheBoardOnce(t *testing.T) {
	const tasks = 1000
	path, entry := "- t/%04d.md\n", "- {file: t/%04d.md}\n"
	for name, form := range map[string]string{"paths": path, "maps": entry} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "k.yaml")
			list := strings.Builder{}
			for i := range tasks {
				fmt.Fprintf(&list, form, i)
			}
			source := []byte("phase: execute\ncurrent: t/0000.md\ntasks:\n" + list.String())
			if err := os.WriteFile(file, source, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "t"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "t", "0001.md"), []byte("# Next\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			place, err := board.OpenPlace(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			parse := func() *board.Board {
				b, err := board.Parse(file, source)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			b := parse()
			w := New(file, file, place, b, redact.New(nil))
			s := &flow.State{Step: &flow.Step{Number: 1, Task: "t/0000.md", TaskStatus: flow.StatusOK}}
			walk := func() *board.Board {
				_, after, err := w.Walk(b, s)
				if err != nil {
					t.Fatal(err)
				}
				return after
			}
			if after := walk(); !after.Entry(0).Done() || after.Current.Path != "t/0001.md" {
				t.Errorf("entry 0 is %+v, current %q", after.Entry(0), after.Current.Path)
			}
			one, all := testing.AllocsPerRun(2, func() { parse() }), testing.AllocsPerRun(2, func() { walk() })
			if parses := all / one; parses > 1.5 {
				t.Errorf("a decision takes %.0f allocations, %.1f parses of the board, want 1", all, parses)
			}
		})
	}
}
