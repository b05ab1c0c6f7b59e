package board

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/frontmatter"
)

// checkReparse compares reparse with Parse of the same bytes.
func checkReparse(t *testing.T, file, before, after string) *Board {
	t.Helper()
	b, err := Parse(file, []byte(before))
	if err != nil {
		return nil
	}
	got, err := b.reparse([]byte(after))
	want, wantErr := Parse(file, []byte(after))
	if !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("%q became %q: reparse = %v, want %v", before, after, err, wantErr)
	}
	if err == nil && !sameBoard(got, want) {
		t.Fatalf("%q became %q: reparse = %+v with %q, want %+v with %q", before, after, got, problems(got.Warnings),
			want, problems(want.Warnings))
	}
	return got
}

func sameBoard(a, b *Board) bool {
	return a.File == b.File && string(a.Source) == string(b.Source) && a.Phase == b.Phase &&
		a.SubPhase == b.SubPhase && a.Current == b.Current &&
		reflect.DeepEqual(a.Entries(), b.Entries()) && reflect.DeepEqual(a.Warnings, b.Warnings) &&
		slices.Equal(a.TaskPaths(), b.TaskPaths()) &&
		reflect.DeepEqual(a.tasks.nodes, b.tasks.nodes) && reflect.DeepEqual(a.tasks.plain, b.tasks.plain) &&
		reflect.DeepEqual(a.doc.Root, b.doc.Root)
}

func TestReparse(t *testing.T) {
	const plain = "phase: x\ncurrent: a.md\ntasks:\n  - a.md\n  - b.md [done]\n  - a.md\nsub-phase: y\n"
	for _, c := range []struct {
		name, file, old, new string
		shared               bool
	}{
		{"nothing", "k.yaml", "", "", true},
		{"current", "k.yaml", "current: a.md", "current: tasks/b.md", true},
		{"current with a warning", "k.yaml", "current: a.md", "current: a.md [done]", true},
		{"no current", "k.yaml", "current: a.md", "current:", true},
		{"a bad current", "k.yaml", "current: a.md", "current: yes", false},
		{"phase", "k.yaml", "phase: x", "phase: done", true},
		{"another field", "k.yaml", "sub-phase", "Sub-phase", true},
		{"a task", "k.yaml", "b.md [done]", "b.md", false},
		{"a task more", "k.yaml", "  - b.md", "  - c.md\n  - b.md", false},
		{"no list", "k.yaml", "tasks:", "tusks:", false},
		{"current is gone", "k.yaml", "current: a.md\n", "", false},
		{"two documents", "k.yaml", "sub-phase: y\n", "---\na: b\n", false},
		{"nothing in Markdown", "k.md", "", "", true},
		{"current in Markdown", "k.md", "current: a.md", "current: b.md", true},
		{"lines above the frontmatter", "k.md", "---\nphase", "\n\n---\nphase", false},
		{"no frontmatter any more", "k.md", "---\nphase", "phase", false},
		{"a body", "k.md", "y\n---\n", "y\n---\n# body\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := plain
			if c.file == "k.md" {
				source = "---\n" + plain + "---\n"
			}
			after := strings.Replace(source, c.old, c.new, 1)
			got := checkReparse(t, c.file, source, after)
			b := mustParse(t, c.file, source)
			again, err := b.reparse([]byte(after))
			if shared := err == nil && again.Len() > 0 && b.tasks == again.tasks; shared != c.shared {
				t.Errorf("the tasks are shared: %v, want %v", shared, c.shared)
			}
			if c.shared && &b.TaskPaths()[0] != &again.TaskPaths()[0] {
				t.Error("the list of paths was made twice")
			}
			if c.shared && (got == nil || len(got.Warnings) == 0) {
				t.Error("the warnings are gone")
			}
		})
	}
}

// Edits of the rest leave the tasks and their warnings the same.
func TestReparseOfRandomEdits(t *testing.T) {
	for seed := range cases(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		before := randomSketch(r).normal()
		for range 3 {
			b, err := Parse("k.md", []byte(before))
			if err != nil {
				break
			}
			after := before
			if out, err := b.Splice(randomWish(r, b)); err == nil {
				after = string(out)
			}
			if at := r.IntN(len(after)); r.IntN(3) == 0 {
				after = after[:at] + pick(r, "\n", " ", "#", ": ", "- x\n", "a", "'") + after[at:]
			}
			checkReparse(t, "k.md", before, after)
			checkReparse(t, "k.yaml", strings.Trim(before, "\ufeff-\r\n"), strings.Trim(after, "\ufeff-\r\n"))
			before = after
		}
	}
}

func randomWish(r *rand.Rand, b *Board) Edit {
	next := pick(r, "t/0-ä.md", "new.md", "it's")
	e := Edit{Current: &next}
	if r.IntN(2) == 0 {
		e.SetTasks, e.Tasks = true, append(slices.Clone(b.TaskPaths()), []string{"n.md", "t/0-ä.md"}[:r.IntN(3)]...)
	}
	return e
}

func FuzzReparse(f *testing.F) {
	seedBoards(f, func(source []byte) {
		f.Add(string(source), 8, 9, "x")
		f.Add(string(source), 9, 9, "\n")
	})
	f.Fuzz(func(t *testing.T, source string, from, to int, text string) {
		if from < 0 || to < from || to > len(source) {
			return
		}
		checkReparse(t, fuzzName([]byte(source)), source, source[:from]+text+source[to:])
	})
}

// A Reader returns what Parse returns, the hash included, over many changes.
func TestReaderReadsAsParseDoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.yaml")
	r := NewReader(path, "k.yaml")
	large := largeBoard(2000)
	for _, source := range []string{
		large, strings.Replace(large, "current: tasks/000000", "current: tasks/000001", 1),
		strings.Replace(large, "- tasks/000007", "- tasks/x", 1),
		"# a comment\n" + large, large + "z: 1\n", "phase: [", "current: a\ntasks: []\n",
	} {
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := r.Read()
		want, wantErr := Parse("k.yaml", []byte(source))
		var p *frontmatter.Problem
		if wantErr != nil {
			if !errors.As(err, &p) || p.Error() != wantErr.Error() {
				t.Errorf("Read = %v, want %v", err, wantErr)
			}
			continue
		}
		if err != nil || got.SHA != SHA([]byte(source)) || want.SHA != got.SHA || !sameBoard(got, want) {
			t.Errorf("Read of %d bytes differs from Parse: %v", len(source), err)
		}
	}
}

// The fast path judges as the slow one does.
func TestPathsOfAPlainListAreChecked(t *testing.T) {
	for entry, want := range map[string]string{
		"a\ufffd.md": "k.yaml:4:5: tasks: the path holds the character '\\ufffd'",
		"ä/\ufffd":   "k.yaml:4:5: tasks: the path holds the character '\\ufffd'", "ä.md": "",
	} {
		_, err := Parse("k.yaml", []byte("current: a\ntasks:\n  - b\n  - "+entry+"\n  - c\n"))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("Parse of the task %q = %v, want %s", entry, err, want)
		}
	}
	for _, entry := range []string{"''", "' '", `" "`} {
		if _, err := Parse("k.yaml", []byte("current: a\ntasks: [b, "+entry+"]\n")); err == nil {
			t.Errorf("a task %s is accepted", entry)
		}
	}
}
