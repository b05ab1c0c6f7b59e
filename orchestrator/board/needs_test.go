package board_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/board"
)

// TestNeeds: what a task needs is checked, and decides the order.
func TestNeeds(t *testing.T) {
	for _, tt := range []struct {
		name, list string
		needs      map[string]string
		plan       string
		found      string
	}{
		{"without needs the list is walked down", "current: b\ntasks: [a, b, c]", nil, "b c", ""},
		{"in order of the needs", "current: a\ntasks: [c, b, a]", map[string]string{"b": "a", "c": "[a, b]"}, "a b c", ""},
		{"first the current one", "current: b\ntasks: [a, b, c]", map[string]string{"c": "[a]"}, "b a c", ""},
		{"one that is marked counts as done", "current: c\ntasks: ['a [done]', b, c]", map[string]string{"b": "a"}, "c b", ""},
		{"one that is not listed", "current: a\ntasks: [a]", map[string]string{"a": "[z]"}, "a", "a: it needs z, which is not on the list"},
		{"a circle", "current: a\ntasks: [a, b, c]", map[string]string{"b": "c", "c": "b"}, "a", "b: tasks need one another: b needs c needs b; c: tasks need one another: c needs b needs c"},
		{"itself", "current: a\ntasks: [a, b]", map[string]string{"b": "b"}, "a", "b: tasks need one another: b needs b"},
		{"a way without a circle", "current: a\ntasks: [a, b, c, d]", map[string]string{"b": "a", "c": "a", "d": "[b, c]"}, "a b c d", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, task := range []string{"a", "b", "c", "d"} {
				text := "---\nrole: Implementor\n"
				if needs := tt.needs[task]; needs != "" {
					text += "needs: " + needs + "\n"
				}
				write(task, text+"---\n")
			}
			write("kanban.yaml", tt.list+"\n")
			path := filepath.Join(dir, "kanban.yaml")
			b, err := board.Parse(path, []byte(tt.list+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			place, err := board.OpenPlace(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			defer place.Close()
			var plan, found []string
			for _, step := range board.Plan(b, place, false) {
				plan = append(plan, step.Task)
			}
			for _, p := range board.Check(b, place, func(string) bool { return true }) {
				if !p.Warning {
					found = append(found, p.File+": "+p.Text)
				}
			}
			if got := strings.Join(plan, " "); got != tt.plan {
				t.Errorf("Plan = %s, want %s", got, tt.plan)
			}
			if got := strings.Join(found, "; "); got != tt.found {
				t.Errorf("Check = %s, want %s", got, tt.found)
			}
		})
	}
}
