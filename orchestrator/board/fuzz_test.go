package board

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

var fuzzBoards = []string{
	"current: null\nended: blocked\ntasks: [a.md]", "current: a.md # c\nended: 'error' # e\n", "{ended: escalate, current: a.md}", "ended: mine\ncurrent: a.md",
	"{current: null, ended: error}", "phase: done\nended: >-\n  blocked\n\ntasks: []",
	"current: a.md\ncheckpoints: {every: 2, at: [{id: A, after: a.md, scope: [./b.md]}]}\ntasks: [a.md, b.md]\n",
	"current: a\ncheckpoints:\n  at:\n  - id: A\n    after: b\n    scope:\n    - a\ntasks:\n- a\n", "checkpoints: off\n",
	"phase: design\ncurrent: tasks/a.md\ntasks:\n  - tasks/a.md [done]\n\n  # c\n  - file: b.md\n    state: done\n",
	"phase: 'x'\ncurrent: 'a.md'\ntasks: ['a.md', \"b.md\", {file: c.md}, ]\n",
	"{phase: x, current: , tasks: [a.md]}\n", "current: ~\ntasks:\n",
	"current: >-\n  a.md\ntasks:\n-\n  a.md\n- # c\n  b.md", "phase: x\n", "tasks: [ ]\nz: |\n\n  x\n\n",
	"request: GOAL: x\n\nNeeded:\n- a\nphase: y\ncurrent: a\n",
	"phase: done\r\ncurrent: ä.md\r\ntasks:\r\n- ü.md # 😀\r\n",
	"current: \"a\\x41\"\ntasks: [file: a.md, 'b\n\n c']\n", "? current\n: a\n? tasks\n: - a\n",
}

func seedBoards(f *testing.F, add func(source []byte)) {
	for _, s := range fuzzBoards {
		add([]byte(s))
		add([]byte("---\n" + s + "\n---\nbody\n"))
		add([]byte("\ufeff\r\n---\r\n" + s + "\r\n---"))
	}
}

func fuzzName(source []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(source, []byte("\ufeff")), "\r\n"), []byte("---")) {
		return "k.md"
	}
	return "k.yaml"
}

// FuzzBoard compares Parse with the YAML library alone.
func FuzzBoard(f *testing.F) {
	seedBoards(f, func(source []byte) { f.Add(source) })
	f.Fuzz(func(t *testing.T, source []byte) {
		b, err := Parse(fuzzName(source), source)
		if err != nil {
			var p *frontmatter.Problem
			if !errors.As(err, &p) || p.File == "" {
				t.Fatalf("Parse(%q) = %v, want a *frontmatter.Problem with a file", source, err)
			}
			return
		}
		var plain struct {
			Phase   *string
			Sub     *string `yaml:"sub_phase"`
			Current *string
			Tasks   []yaml.Node
		}
		if err := yaml.Unmarshal(b.doc.YAML, &plain); err != nil {
			t.Fatalf("yaml.Unmarshal(%q) = %v, but it was accepted", b.doc.YAML, err)
		}
		current, _ := splitState(value(plain.Current))
		if b.Phase != value(plain.Phase) || b.SubPhase != value(plain.Sub) || b.Current.Path != current ||
			b.Len() != len(plain.Tasks) {
			t.Fatalf("Parse(%q) = %+v, the library says %+v", source, b, plain)
		}
		for i, n := range plain.Tasks {
			var e struct{ File string }
			path, _ := splitState(n.Value)
			if n.Kind == yaml.MappingNode && n.Decode(&e) == nil {
				path = e.File
			}
			if b.Entry(i).Path != path {
				t.Fatalf("task %d of %q = %q, the library says %q", i, source, b.Entry(i).Path, path)
			}
		}
	})
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// FuzzSplice: an edit gives the exact result or an error; foreign bytes never move; the same edit
// again changes nothing.
func FuzzSplice(f *testing.F) {
	seedBoards(f, func(source []byte) {
		f.Add(source, "tasks/b.md", "tasks/b.md\nb.md\nnew.md")
		f.Add(source, "", "")
		f.Add(source, "b.md", "-")
		f.Add(source, "it's: #1", "b.md [done]\ntasks/a.md\n- x")
	})
	f.Fuzz(func(t *testing.T, source []byte, current, tasks string) {
		b, err := Parse(fuzzName(source), source)
		if err != nil {
			return
		}
		if same, err := b.Splice(Edit{Tasks: b.TaskPaths(), SetTasks: b.Len() > 0}); err != nil || same != b {
			t.Fatalf("Splice of %q to itself = %+v, %v", source, same, err)
		}
		e := Edit{Null: current == "", Tasks: strings.Split(tasks, "\n"), SetTasks: tasks != "-"}
		if current != "" {
			e.Current = &current
		}
		if last := b.Len() - 1; last >= 0 && !e.SetTasks {
			e.Done = &last
		}
		ended := []string{"", "blocked"}[len(tasks)%2]
		e.Ended = &ended
		out, err := b.Splice(e)
		if err != nil {
			checkSpliceError(t, source, err)
			return
		}
		checkResult(t, b, e, out.Source)
	})
}

func checkSpliceError(t *testing.T, source []byte, err error) {
	t.Helper()
	var p *PathError
	var s *SpliceError
	if !errors.As(err, &p) && !errors.As(err, &s) {
		t.Fatalf("Splice of %q = %v, want a *PathError or a *SpliceError", source, err)
	}
}

func checkResult(t *testing.T, b *Board, e Edit, out []byte) {
	t.Helper()
	after, err := Parse(b.File, out)
	if err != nil {
		t.Fatalf("Splice(%+v) of %q = %q, which is unreadable: %v", e, b.Source, out, err)
	}
	if after.Current.Null != e.Null || e.Current != nil && after.Current.Path != currentPath(*e.Current) {
		t.Fatalf("Splice(%+v) of %q gives current %+v", e, b.Source, after.Current)
	}
	if after.Ended != *e.Ended && b.CanWriteEnded() || !b.CanWriteEnded() && !sameValue(after.doc, b.doc, "ended") {
		t.Fatalf("Splice(%+v, ended %q) of %q gives ended %q", e, *e.Ended, b.Source, after.Ended)
	}
	if e.Done != nil && !after.Entry(*e.Done).Done() {
		t.Fatalf("Splice(%+v) of %q marks no entry %d: %q", e, b.Source, *e.Done, out)
	}
	if wanted, _ := e.parseEntries(); e.SetTasks && !samePaths(after.TaskPaths(), wanted) {
		t.Fatalf("Splice(%+v) of %q gives tasks %+v", e, b.Source, after.TaskPaths())
	}
	if !bytes.HasPrefix(out, b.Source[:b.doc.Start]) || !bytes.HasSuffix(out, b.Source[b.doc.Start+len(b.doc.YAML):]) {
		t.Fatalf("Splice(%+v) of %q moves text outside of the fields: %q", e, b.Source, out)
	}
	if !sameUntouched(after.doc, b.doc) {
		t.Fatalf("Splice(%+v) of %q changes other fields: %q", e, b.Source, out)
	}
	again, err := text(after.Splice(e))
	if err != nil || again != string(out) {
		t.Fatalf("the same Splice(%+v) again of %q = %q, %v, want no change", e, out, again, err)
	}
}

// FuzzFix: a repaired board loads, and differs only in values that became blocks and in the folder
// of current.
func FuzzFix(f *testing.F) {
	seedBoards(f, func(source []byte) { f.Add(source) })
	f.Fuzz(func(t *testing.T, source []byte) {
		name := fuzzName(source)
		fixed, notes, err := Fix(name, source, func(n string) (string, bool) { return "d/" + n, true })
		if err != nil {
			return
		}
		if _, err := Parse(name, fixed); err != nil {
			t.Fatalf("Fix(%q) = %q, which does not load: %v", source, fixed, err)
		}
		if len(notes) == 0 && !bytes.Equal(fixed, source) {
			t.Fatalf("Fix(%q) = %q without a note", source, fixed)
		}
	})
}
