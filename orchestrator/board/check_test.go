package board

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lookup knows two roles.
func lookup(name string) error {
	if fold(name) == "architect" || fold(name) == "implementor" {
		return nil
	}
	return errors.New("unknown")
}

func TestCheck(t *testing.T) {
	files := map[string]string{
		"tasks/a.md": "---\nrole: architect\n---\n", "tasks/b.md": "---\nassignee: Painter\nstate: todo\n---\n",
		"tasks/old.md": "---\nrole: Nobody\nstate: done\n---\n",
		"tasks/two.md": "---\nrole: Architect\nassignee: Implementor\n---\n",
		"tasks/bad.md": "---\nrole: a: b\n---\n", "both.md": "", "tasks/both.md": "x",
		"tasks/need.md": "---\nneed: [tasks/a.md]\n---\n",
	}
	for _, c := range []struct {
		name, source string
		want         []string // w: warning, e: error
	}{
		{"nothing", "phase: design\ncurrent: tasks/a.md\ntasks: [tasks/a.md]\n", nil},
		{"current absent", "phase: design\ntasks: [tasks/a.md]\n",
			[]string{"e tasks/k.yaml:1: current is missing, and phase does not say that the work is over"}},
		{"current null, phase not", "phase: design\ncurrent: null\ntasks: [tasks/a.md]\n",
			[]string{`w tasks/k.yaml:2:10: current is null, so the work is over, and phase is "design"`}},
		{"current null, all is done", "phase: design\ncurrent: null\ntasks:\n- tasks/a.md [done]\n", nil},
		{"finished and pointing at a task", "phase: done\ncurrent: tasks/a.md\ntasks: [tasks/a.md]\n",
			[]string{"w tasks/k.yaml:2:10: phase is done, so the work is over, and current still names a task"}},
		{"bare current", "current: a.md\ntasks: [tasks/a.md]\n",
			[]string{"w tasks/k.yaml:1:10: current is found beside the board only; agents will see tasks/a.md"}},
		{"current not listed", "current: tasks/a.md\ntasks: [tasks/two.md]\n", []string{
			"w tasks/k.yaml:1:10: current is not in the list of tasks",
			"w tasks/two.md:2:7: role is Architect and assignee is Implementor; role counts"}},
		{"current missing", "current: tasks/x.md\ntasks: []\n",
			[]string{"e tasks/k.yaml:1:10: current: tasks/x.md: there is no such file in $DIR or in $DIR/tasks"}},
		{"current done, role unknown", "current: tasks/old.md\ntasks: [tasks/old.md]\n", []string{
			"w tasks/k.yaml:1:10: the current task says that its state is done",
			`e tasks/old.md:2:7: there is no role "Nobody"`}},
		{"a task without a file", "current: tasks/a.md\ntasks:\n- tasks/a.md\n- tasks/x.md\n",
			[]string{"w tasks/k.yaml:4: tasks: tasks/x.md: there is no such file in $DIR or in $DIR/tasks"}},
		{"an unknown role ahead", "current: tasks/a.md\ntasks: [tasks/a.md, tasks/b.md]\n",
			[]string{`e tasks/b.md:2:11: there is no role "Painter"`}},
		{"an unknown role behind", "current: tasks/a.md\ntasks: [tasks/a.md, 'tasks/b.md [done]', tasks/old.md]\n",
			[]string{
				`w tasks/b.md:2:11: there is no role "Painter"`, `w tasks/old.md:2:7: there is no role "Nobody"`}},
		{"an unreadable task", "current: tasks/a.md\ntasks: [tasks/a.md, tasks/bad.md]\n",
			[]string{"e tasks/bad.md:2:8: invalid YAML: mapping values are not allowed in this context"}},
		{"an unreadable current task that is listed", "current: tasks/bad.md\ntasks: [tasks/a.md, tasks/bad.md]\n",
			[]string{"e tasks/bad.md:2:8: invalid YAML: mapping values are not allowed in this context"}},
		{"one that is listed as done and again",
			"phase: x\ncurrent: tasks/a.md\ntasks: [tasks/a.md, 'tasks/bad.md [done]', tasks/bad.md]\n", []string{
				"w tasks/k.yaml:3:44: the task tasks/bad.md is already on line 3",
				"w tasks/bad.md:2:8: invalid YAML: mapping values are not allowed in this context",
				"e tasks/bad.md:2:8: invalid YAML: mapping values are not allowed in this context"}},
		{"an ambiguous task", "current: tasks/a.md\ntasks: [tasks/a.md, both.md]\n",
			[]string{"e tasks/k.yaml:2: tasks: both.md: it could be both.md or tasks/both.md"}},
		{"a misspelt field", "current: tasks/a.md\ntasks: [tasks/a.md, tasks/need.md]\n",
			[]string{"w tasks/need.md:2:1: the field need means nothing"}},
		{"a role by the phase", "phase: plan\ncurrent: tasks/both2.md\ntasks: [tasks/both2.md]\n",
			[]string{`e tasks/both2.md: there is no role "Manager"`}},
		{"what the parser found odd", "current: tasks/a.md\n",
			[]string{"w tasks/k.yaml: the board has no list of tasks",
				"w tasks/k.yaml:1:10: current is not in the list of tasks"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files["tasks/both2.md"] = ""
			for name, text := range files {
				at := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b := mustParse(t, "tasks/k.yaml", c.source)
			var got []string
			place := openPlace(t, dir, filepath.Join(dir, "tasks", "k.yaml"))
			place.Lookup = lookup
			for _, p := range Check(b, place) {
				kind := "e "
				if p.Warning {
					kind = "w "
				}
				got = append(got, kind+strings.ReplaceAll(p.Error(), filepath.ToSlash(dir), "$DIR"))
				if p.Hint() == "" {
					t.Errorf("%v has no hint", p)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Check (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckIsBounded(t *testing.T) {
	dir := tree(t, "a.md")
	var s strings.Builder
	s.WriteString("current: a.md\ntasks: [a.md")
	for i := range 1000 {
		s.WriteString(", x" + strings.Repeat("y", i) + ".md")
	}
	b := mustParse(t, "k.yaml", s.String()+"]\n")
	place := openPlace(t, dir, filepath.Join(dir, "k.yaml"))
	place.Lookup = lookup
	found := Check(b, place)
	if len(found) != maxFindings+1 {
		t.Fatalf("Check found %d problems, want %d", len(found), maxFindings+1)
	}
	if got, want := found[maxFindings].Error(), "k.yaml: 800 more tasks were not looked at"; got != want {
		t.Errorf("the last = %q, want %q", got, want)
	}
}
