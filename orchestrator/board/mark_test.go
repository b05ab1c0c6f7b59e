package board

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMarkDone: an entry is marked in the form that its author chose, and nothing else moves.
func TestMarkDone(t *testing.T) {
	for _, c := range []struct {
		name, source string
		i            int
		want         string
	}{
		{"a path", "current: a.md\ntasks:\n  - a.md # first\n  - b.md\n", 0, "current: a.md\ntasks:\n  - a.md [done] # first\n  - b.md\n"},
		{"a quoted path", "tasks: ['a.md', \"b: c.md\"]\ncurrent: a.md\n", 1, "tasks: ['a.md', \"b: c.md [done]\"]\ncurrent: a.md\n"},
		{"another mark", "tasks:\n- a.md [todo]\n", 0, "tasks:\n- a.md [done]\n"},
		{"done before", "tasks:\n- a.md [x]\n", 0, "tasks:\n- a.md [x]\n"},
		{"a map with state", "tasks:\n  - file: a.md\n    state: todo # s\n  - b.md\n", 0, "tasks:\n  - file: a.md\n    state: done # s\n  - b.md\n"},
		{"a map with status", "tasks:\n  - {file: a.md, status: open}\n", 0, "tasks:\n  - {file: a.md, status: done}\n"},
		{"a map with an empty state", "tasks:\n  - file: a.md\n    state:\n", 0, "tasks:\n  - file: a.md\n    state: done\n"},
		{"a map without", "tasks:\n  - file: a.md # f\n    owner: me\n  - b.md\n", 0, "tasks:\n  - file: a.md # f\n    owner: me\n    state: done\n  - b.md\n"},
		{"a map between braces", "tasks: [{file: a.md}, b.md]\n", 0, "tasks: [{file: a.md, state: done}, b.md]\n"},
		{"a map in the last line", "tasks:\r\n- file: a.md", 0, "tasks:\r\n- file: a.md\r\n  state: done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustParse(t, "k.yaml", c.source)
			got, err := text(b.MarkDone(c.i))
			if err != nil || got != c.want {
				t.Fatalf("MarkDone = %q, %v, want %q", got, err, c.want)
			}
			if after := mustParse(t, "k.yaml", got); !after.Entry(c.i).Done() {
				t.Errorf("entry %+v is not done", after.Entry(c.i))
			}
			for _, e := range []Edit{{Null: true}, setCurrent("b.md"), setCurrent("it's: #1"), {Null: true, Ended: ptr("blocked")}} {
				compareMark(t, b, c.i, e)
			}
		})
	}
}

// compareMark holds an edit that marks entry i, too, to the same two edits one after the other.
func compareMark(t *testing.T, b *Board, i int, e Edit) {
	t.Helper()
	marked, err := b.MarkDone(i)
	if err != nil {
		t.Fatalf("MarkDone(%d) of\n%s\n= %v", i, b.Source, err)
	}
	want, err := text(marked.Splice(e))
	if err != nil {
		t.Fatalf("Splice(%+v) of\n%s\n= %v", e, marked.Source, err)
	}
	e.Done = &i
	got, err := text(b.Splice(e))
	if err != nil || got != want {
		t.Fatalf("Splice(%+v) with the mark of entry %d of\n%s\n= %q, %v, want %q", e, i, b.Source, got, err, want)
	}
}

// TestMarkPropertyExact: on random boards, a mark and a new current task in one edit give the bytes of two edits.
func TestMarkPropertyExact(t *testing.T) {
	for seed := range cases(3000) {
		r := rand.New(rand.NewPCG(seed, 6))
		s := randomSketch(r)
		b := mustParse(t, "k.md", s.normal())
		e := pick(r, Edit{Null: true}, setCurrent("t/new.md"), setCurrent("t/0-ä.md"), Edit{})
		if r.IntN(4) == 0 {
			e.Ended = ptr("blocked")
		}
		compareMark(t, b, r.IntN(b.Len()), e)
	}
}

// TestVerifyFindsWhatAMarkMoved: the proof of an edit with a mark sees a mark that is missing, or of another entry, and
// each foreign change.
func TestVerifyFindsWhatAMarkMoved(t *testing.T) {
	const source = "phase: x\ncurrent: a.md\ntasks:\n- file: a.md\n  note: mine\n- b.md\nlog: [1]\n"
	b := mustParse(t, "k.yaml", source)
	for _, c := range []struct {
		name string
		i    int
		edit []string // replacements in the right result
		want string
	}{
		{"nothing, of a map", 0, nil, ""},
		{"nothing, of a path", 1, nil, ""},
		{"no mark of the map", 0, []string{"\n  state: done", ""}, "tasks would not be"},
		{"another path", 0, []string{"file: a.md", "file: c.md"}, "tasks would not be"},
		{"the mark of another entry", 0, []string{"- b.md", "- b.md [done]"}, "tasks would not be"},
		{"an entry less", 0, []string{"- b.md\n", ""}, "tasks would not be"},
		{"no mark of the path", 1, []string{"b.md [done]", "b.md"}, "an entry that stays would change"},
		{"another mark", 1, []string{"b.md [done]", "b.md [todo]"}, "an entry that stays would change"},
		{"the author's map", 1, []string{"note: mine", "note: yours"}, "an entry that stays would change"},
		{"current", 0, []string{"current: null", "current: b.md"}, "current would not be"},
		{"ended", 0, []string{"current: null", "current: null\nended: blocked"}, "ended would not be"},
		{"another field", 0, []string{"log: [1]", "log: [2]"}, "other fields would change"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Edit{Null: true, Done: &c.i}
			good, err := text(b.Splice(e))
			if err != nil {
				t.Fatal(err)
			}
			e = b.resolveMark(e)
			wanted, err := e.parseEntries()
			if err != nil {
				t.Fatal(err)
			}
			err = b.verify(mustParse(t, "k.yaml", strings.NewReplacer(c.edit...).Replace(good)), e, wanted)
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("verify = %v, want %q", err, c.want)
			}
		})
	}
}

// TestFinder: a task is found by the path that agents see, also from outside of the board's folder, and never taken
// for another that ends alike.
func TestFinder(t *testing.T) {
	b := mustParse(t, "top/sub/k.yaml", "current: a.md\ntasks: [a.md, tasks/a.md, ./tasks/b.md, tasks/b.md, x/c.md]\n")
	for task, want := range map[string]int{"a.md": 0, "tasks/a.md": 1, "sub/tasks/a.md": 1, "sub/a.md": 0, "tasks/b.md": 2, "c.md": -1, "sub/x/c.md": 4, "top/sub/x/c.md": 4, "top/x/c.md": -1, "other/x/c.md": -1, "xa.md": -1, "": -1} {
		if got := b.Finder()(task); got != want {
			t.Errorf("find %q = %d, want %d", task, got, want)
		}
	}
}
