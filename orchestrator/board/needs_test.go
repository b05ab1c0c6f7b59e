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
		{"from the current one on, and then from the top", "current: b\ntasks: [a, b, c]", nil, "b c a", ""},
		{"in order of the needs", "current: a\ntasks: [c, b, a]", map[string]string{"b": "a", "c": "[a, b]"}, "a b c", ""},
		{"first the current one", "current: b\ntasks: [a, b, c, d]", map[string]string{"c": "[a]"}, "b d a c", ""},
		{"one that is marked counts as done", "current: c\ntasks: ['a [done]', b, c]", map[string]string{"b": "a"}, "c b", ""},
		{"the current one is worked on even so", "current: b\ntasks: ['b [done]', a]", nil, "b a", ""},
		{"one that is not listed", "current: a\ntasks: [a]", map[string]string{"a": "[z]"}, "a", "a: it needs z, which is not on the list"},
		{"a circle", "current: a\ntasks: [a, b, c]", map[string]string{"b": "c", "c": "b"}, "a", "b: it needs c, which needs b: none of them can begin"},
		{"itself", "current: a\ntasks: [a, b]", map[string]string{"b": "b"}, "a", "b: it needs itself, so it can never begin"},
		{"the current one is not listed", "current: d\ntasks: [a, 'b [done]', c]", map[string]string{"a": "c"}, "d c a", ""},
		{"listed twice", "current: a\ntasks: [a, b, ./a, c]", nil, "a b c", ""},
		{"a way without a circle", "current: a\ntasks: [a, b, c, d]", map[string]string{"b": "a", "c": "a", "d": "[b, c]"}, "a b c d", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, found := planOf(t, tt.list, tt.needs, board.Past{})
			if plan != tt.plan {
				t.Errorf("Plan = %s, want %s", plan, tt.plan)
			}
			if found != tt.found {
				t.Errorf("Check = %s, want %s", found, tt.found)
			}
		})
	}
}

// TestPlanAfterRuns: a plan is that of the next run.
func TestPlanAfterRuns(t *testing.T) {
	is := func(all ...int) map[int]bool {
		m := map[int]bool{}
		for _, i := range all {
			m[i] = true
		}
		return m
	}
	for _, tt := range []struct {
		name  string
		needs map[string]string
		past  board.Past
		plan  string
	}{
		{"what the journal says is done is not done again", map[string]string{"d": "[c]"}, board.Past{Done: is(0, 2)}, "b d"},
		{"and what is not stands anywhere", nil, board.Past{Done: is(2)}, "b d a"},
		{"of one that was never run what stands before", nil, board.Past{Never: true}, "b c d"},
		{"nor what needs a skipped task", map[string]string{"d": "[c]"}, board.Past{Skipped: is(2)}, "b a"},
		{"what a person accepted", nil, board.Past{Done: is(0, 1)}, "c d"},
		{"a skipped task", nil, board.Past{Done: is(0), Skipped: is(2)}, "b d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if plan, _ := planOf(t, "current: b\ntasks: [a, b, c, d]", tt.needs, tt.past); plan != tt.plan {
				t.Errorf("Plan = %s, want %s", plan, tt.plan)
			}
		})
	}
}

// planOf returns the plan of a board with the tasks a to d, and the errors that are found in it.
func planOf(t *testing.T, list string, needs map[string]string, past board.Past) (plan, found string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, task := range []string{"a", "b", "c", "d"} {
		text := "---\nrole: Implementor\n"
		if needs := needs[task]; needs != "" {
			text += "needs: " + needs + "\n"
		}
		write(task, text+"---\n")
	}
	write("kanban.yaml", list+"\n")
	path := filepath.Join(dir, "kanban.yaml")
	b, err := board.Parse(path, []byte(list+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	place, err := board.OpenPlace(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	var steps, errs []string
	for _, step := range board.Plan(b, place, past) {
		steps = append(steps, step.Task)
	}
	for _, p := range board.Check(b, place) {
		if !p.Warning {
			errs = append(errs, p.File+": "+p.Text)
		}
	}
	return strings.Join(steps, " "), strings.Join(errs, "; ")
}
