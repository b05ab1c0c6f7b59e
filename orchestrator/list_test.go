package orchestrator

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"
)

// FuzzList: the list that goes into a Manager's input is what json.Marshal makes of it, and its paths are compared as path.Clean
// makes them.
func FuzzList(f *testing.F) {
	for _, seed := range []string{"", "tasks/a.md", "tasks/a.md\ntasks/b.md", "./a.md\nb//c.md\n../d", "<a>&\u2028\n\"q\"\\\nüñí\n\xff\x00", strings.Repeat("tasks/a.md\n", 100)} {
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
		in := encodeManagerInput("kanban.yaml", paths[0], l)
		want, err = json.Marshal(managerInput{"kanban.yaml", paths[0], paths})
		if err != nil {
			t.Fatal(err)
		}
		if string(in) != string(want) {
			t.Errorf("the input is %s, want %s", in, want)
		}
	})
}

func BenchmarkList(b *testing.B) {
	paths := slices.Repeat([]string{"tasks/000001-implement-thing.md"}, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		newList(paths).encode()
	}
}
