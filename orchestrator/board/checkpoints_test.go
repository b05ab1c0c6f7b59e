package board

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
)

func TestCheckpoints(t *testing.T) {
	for _, tt := range []struct {
		name, file, source string
		want               *event.Supervision
		off                bool
		unlisted           []string
	}{
		{"none", "k.yaml", "current: a.md\ntasks: [a.md]\n", nil, false, nil},
		{"off", "k.yaml", "current: a.md\ncheckpoints: off\ntasks: [a.md]\n", nil, true, nil},
		{"every", "k.md", "---\ncurrent: a.md\ncheckpoints: {every: 2}\ntasks:\n- a.md\n---\n",
			&event.Supervision{Role: "Supervisor", Every: 2, OnBlock: event.BlockPerson}, false, nil},
		{"paths are those of the list", "k.md", "---\ncurrent: a.md\ncheckpoints:\n  at:\n  - {id: A, after: ./a.md, scope: ['./b.md [done]', a.md]}\n" +
			"tasks:\n- a.md [done]\n- ./b.md\n---\n",
			&event.Supervision{Role: "Supervisor", OnBlock: event.BlockPerson,
				At: []event.CheckpointAt{{ID: "A", After: "a.md", Scope: []string{"./b.md", "a.md"}}}}, false, nil},
		{"tasks that are not listed", "k.yaml", "current: a.md\ntasks: [a.md]\ncheckpoints:\n  at:\n  - {id: A, after: b.md, scope: [a.md, 'c.md [done]']}\n",
			&event.Supervision{Role: "Supervisor", OnBlock: event.BlockPerson,
				At: []event.CheckpointAt{{ID: "A", After: "b.md", Scope: []string{"a.md", "c.md"}}}}, false,
			[]string{`k.yaml:5:20: checkpoints: the task "b.md" is not in the list of tasks`,
				`k.yaml:5:40: checkpoints: the task "c.md" is not in the list of tasks`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := mustParse(t, tt.file, tt.source)
			if diff := cmp.Diff(tt.want, b.Checkpoints); diff != "" || b.CheckpointsOff != tt.off {
				t.Errorf("off = %v, want %v; Checkpoints differ (-want +got):\n%s", b.CheckpointsOff, tt.off, diff)
			}
			if diff := cmp.Diff(tt.unlisted, problems(b.CheckCheckpoints())); diff != "" {
				t.Errorf("CheckCheckpoints differs (-want +got):\n%s", diff)
			}
			if len(b.Warnings) > 0 {
				t.Errorf("Warnings = %v, want none", problems(b.Warnings))
			}
		})
	}
}

// TestCheckpointsFaults: the field was the author's once; what is in it by then
// is refused with its place.
func TestCheckpointsFaults(t *testing.T) {
	for source, want := range map[string]string{
		"---\ncurrent: a.md\ncheckpoints: [one, two]\n---\n":                                                 "k.md:3:14: checkpoints must be a mapping, or off",
		"---\ncurrent: a.md\ncheckpoints:\n- one\n---\n":                                                     "k.md:4:1: checkpoints must be a mapping, or off",
		"---\ncurrent: a.md\ncheckpoints: weekly\n---\n":                                                     "k.md:3:14: checkpoints must be a mapping, or off",
		"---\ncurrent: a.md\ncheckpoints:\n  on_block: abort\n---\n":                                         "k.md:4:3: checkpoints: it names no checkpoint",
		"---\ncurrent: a.md\ncheckpoints:\n  at:\n  - {id: A, after: a.md}\n  - {id: A, after: a.md}\n---\n": "k.md:6:10: checkpoints: the id A is already on line 5",
		"---\ncurrent: a.md\ncheckpoints:\n  evry: 3\n---\n":                                                 `k.md:4:3: checkpoints: unknown key "evry"`,
		"---\ncurrent: a.md\ncheckpoints:\n  every: no\n---\n":                                               "k.md:4:10: checkpoints: every must be a whole number, 1 or more",
	} {
		_, err := Parse("k.md", []byte(source))
		if p, ok := errors.AsType[*frontmatter.Problem](err); !ok || p.Error() != want || p.Fix == "" {
			t.Errorf("Parse(%q) = %v, want %s with a hint", source, err, want)
		}
	}
	b := mustParse(t, "k.yaml", "current: a.md\nCheckpoints: weekly\ntasks: [a.md]\n")
	want := []string{"k.yaml:2:1: the field Checkpoints is not checkpoints and has no meaning here"}
	if diff := cmp.Diff(want, problems(b.Warnings)); diff != "" {
		t.Errorf("Warnings differ (-want +got):\n%s", diff)
	}
}

// TestCheckOfCheckpoints: what a run would refuse is an error, and a
// warning on a board that is over.
func TestCheckOfCheckpoints(t *testing.T) {
	dir := tree(t, "a.md")
	for phase, want := range map[string]string{"plan": "e", "complete": "w"} {
		current := map[string]string{"plan": "a.md", "complete": "null"}[phase]
		file := filepath.Join(dir, "k.yaml")
		b := mustParse(t, file, "phase: "+phase+"\ncurrent: "+current+
			"\ntasks: [a.md]\ncheckpoints:\n  role: Painter\n  at:\n  - {id: A, after: x.md}\n")
		place, err := OpenPlace(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		place.Lookup = func(name string) error {
			if name == "Painter" {
				return errors.New("unknown")
			}
			return nil
		}
		for _, p := range Check(b, place) {
			got = append(got, map[bool]string{false: "e ", true: "w "}[p.Warning]+strings.TrimPrefix(p.Error(), dir+string(filepath.Separator)))
		}
		all := []string{want + ` k.yaml:7:20: checkpoints: the task "x.md" is not in the list of tasks`,
			want + ` k.yaml:5:9: checkpoints: there is no role "Painter"`}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("phase %s: Check differs (-want +got):\n%s", phase, diff)
		}
	}
}

// TestCheckpointsProblem: the place is that of the key, else that of the field.
func TestCheckpointsProblem(t *testing.T) {
	b := mustParse(t, "k.yaml", "current: a.md\ntasks: [a.md]\ncheckpoints:\n  requirement: docs\n  every: 1\n")
	for key, want := range map[string]string{"requirement": "k.yaml:4:16: checkpoints: x", "role": "k.yaml:3:1: checkpoints: x"} {
		if got := b.CheckpointsProblem(key, errors.New("x")).Error(); got != want {
			t.Errorf("CheckpointsProblem(%s) = %s, want %s", key, got, want)
		}
	}
}

// TestNamesFile: what is no path of a file is a text, and a file that cannot be read is an error.
func TestNamesFile(t *testing.T) {
	dir := tree(t, "work/docs/goal.md", "work/k.yaml", "outside.md", "work/out.md -> $TOP/outside.md", "work/in.md -> docs/goal.md")
	place, err := OpenPlace(filepath.Join(dir, "work"), filepath.Join(dir, "work", "k.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"docs/goal.md": true, "./docs/goal.md": true, "in.md": true, "docs": false, "docs/none.md": false, "goal.md": false, "": false, "a\nb": false,
		"../outside.md": false, "docs/goal.md/x": false, strings.Repeat("a site for cats, ", 100): false, strings.Repeat("x/", 5000): false,
	} {
		if got, err := place.NamesFile(text); got != want || err != nil {
			t.Errorf("NamesFile(%.40q) = %v, %v, want %v", text, got, err, want)
		}
	}
	if _, err := place.NamesFile("out.md"); err == nil || !strings.Contains(err.Error(), "out of the work directory") {
		t.Errorf("NamesFile(out.md) = %v, want an error", err)
	}
}
