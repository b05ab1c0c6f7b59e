package board

import "testing"

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
