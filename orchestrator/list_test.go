package orchestrator

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"
)

// FuzzList: the list that goes into a Manager's input is what json.Marshal makes of it, and its paths are compared as path.Clean
// makes them.
func FuzzList(f *testing.F) {
	for _, seed := range []string{"", "tasks/a.md", "tasks/a.md\ntasks/b.md", "./a.md\nb//c.md\n../d", "<a>&\u2028\n\"q\"\\\nüñí\n\xff\x00", strings.Repeat("tasks/a.md\n", 100), strings.Repeat("tasks/a.md\n", 500), strings.Repeat("<\n", 800)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths := strings.Split(text, "\n")
		want, err := json.Marshal(paths)
		if err != nil {
			t.Fatal(err)
		}
		l := newList(paths)
		if got := l.encode(); string(got) != string(want) {
			t.Errorf("encode() = %s, want %s", got, want)
		}
		for i, p := range paths {
			if l.clean[i] != path.Clean(p) {
				t.Errorf("clean[%d] = %q, want %q", i, l.clean[i], path.Clean(p))
			}
		}
		for _, done := range []string{paths[0], "tasks/a.md"} {
			got := l.input("kanban.yaml", done)
			if want, err = json.Marshal(managerInput{"kanban.yaml", done, paths}); err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("the input is %s, want %s", got, want)
			}
		}
	})
}

// TestLongInput: a long list is not copied into each input, and a head that is longer than the room for it is no matter.
func TestLongInput(t *testing.T) {
	l := newList(slices.Repeat([]string{"tasks/000001-implement-thing.md"}, 5000))
	for _, done := range []string{"a", "tasks/000001-implement-thing.md", strings.Repeat("d", headroom), "b"} {
		want, err := json.Marshal(managerInput{"kanban.yaml", done, l.paths})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.input("kanban.yaml", done); string(got) != string(want) {
			t.Errorf("the input for %.40q is %.80s, want %.80s", done, got, want)
		}
	}
	if used := testing.AllocsPerRun(10, func() { l.input("kanban.yaml", "a") }); used > 10 {
		t.Errorf("%v allocations for an input", used)
	}
	if a, b := l.input("k", "a"), l.input("k", "b"); &a[0] != &b[0] || !bytes.HasSuffix(b, []byte("]}")) {
		t.Error("the list was copied")
	}
}

func BenchmarkList(b *testing.B) {
	paths := slices.Repeat([]string{"tasks/000001-implement-thing.md"}, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		newList(paths).encode()
	}
}

// TestInputSum: the sum tells apart all that differs, and is the same wherever the input comes from.
func TestInputSum(t *testing.T) {
	sums := map[string]string{}
	for _, paths := range [][]string{{}, {"a"}, {"a", "b"}, slices.Repeat([]string{"tasks/000001-implement-thing.md"}, 5000)} {
		for _, done := range []string{"a", "b"} {
			l := newList(paths)
			in := newInput(l.input("kanban.yaml", done), l)
			text := string(in.text)
			if other, twice := sums[in.sum]; twice {
				t.Errorf("%.60s and %.60s have the same sum", text, other)
			}
			sums[in.sum] = text
			var decoded managerInput
			if err := json.Unmarshal(in.text, &decoded); err != nil {
				t.Fatal(err)
			}
			if again := newInput([]byte(text), newList(decoded.Tasks)); again.sum != in.sum {
				t.Errorf("%.60s: the sum is %s, and %s from the journal", text, in.sum, again.sum)
			}
			if spaced := newInput([]byte(text+" "), l); spaced.sum == in.sum {
				t.Errorf("%.60s: a space behind it does not count", text)
			}
		}
	}
}
