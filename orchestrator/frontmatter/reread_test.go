package frontmatter

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// checkReread compares Reread with reading the same bytes for the first time.
func checkReread(t *testing.T, fenced bool, before, after []byte) *Document {
	t.Helper()
	checkRereadOf(t, func(source []byte) (*Document, error) { return parseCompact(fenced, source) }, before, after)
	return checkRereadOf(t, func(source []byte) (*Document, error) { return parse(fenced, source) }, before, after)
}

func checkRereadOf(t *testing.T, parse func([]byte) (*Document, error), before, after []byte) *Document {
	t.Helper()
	first, err := parse(before)
	if err != nil || first.Root == nil {
		return nil
	}
	again, err := first.Reread(after)
	want, wantErr := parse(after)
	if !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("%q became %q: Reread = %v, want %v", before, after, err, wantErr)
	}
	if !sameDocument(again, want) {
		t.Fatalf("%q became %q: Reread = %+v, want %+v; root %+v, want %+v", before, after, again, want, again.Root,
			want.Root)
	}
	checkReverted(t, first, again)
	return again
}

// sameDocument compares all but the identity of Source.
func sameDocument(a, b *Document) bool {
	if a == nil || b == nil {
		return a == b
	}
	return reflect.DeepEqual(a.Root, b.Root) && reflect.DeepEqual(a.fields, b.fields) &&
		string(a.Source) == string(b.Source) && string(a.YAML) == string(b.YAML) &&
		a.File == b.File && a.Start == b.Start && a.Body == b.Body && a.FirstLine == b.FirstLine &&
		a.fenced == b.fenced && a.compact == b.compact
}

// checkReverted rereads the first version after the second and expects the first document again.
func checkReverted(t *testing.T, first, second *Document) {
	t.Helper()
	if second == nil {
		return
	}
	third, err := second.Reread(slices.Clone(first.Source))
	if err != nil || !reflect.DeepEqual(third.Root, first.Root) || !reflect.DeepEqual(third.fields, first.fields) {
		t.Fatalf("%q became %q and reverted: %+v, %v, want %+v", first.Source, second.Source, third.Root, err,
			first.Root)
	}
}

func TestRereadSharesWhatStays(t *testing.T) {
	const before = "phase: x\ncurrent: a\n\ntasks:\n  - a\n  - b\nlog:\n- x\n- y\n"
	for _, c := range []struct{ name, old, new, shared string }{
		{"nothing changes", "", "", "phase current tasks log"},
		{"a longer value", "current: a", "current: tasks/b.md", "phase tasks log"},
		{"an empty value", "current: a", "current:", "phase tasks log"},
		{"the first field", "phase: x", "phase: done", "current tasks log"},
		{"a list", "  - b\n", "  - c\n", "phase current log"},
		{"a list grows", "  - b\n", "  - b\n  - c\n", "phase current"},
		{"the last field", "- y\n", "- z\n- zz\n", "phase current tasks"},
		{"no newline at the end", "- y\n", "- y", "phase current tasks"},
		{"two fields", "phase: x\ncurrent: a", "phase: y\ncurrent: b", "tasks log"},
		{"the first and the last", "phase: x\ncurrent: a\n\ntasks:\n  - a\n  - b\nlog:\n- x\n- y\n",
			"phase: y\ncurrent: a\n\ntasks:\n  - a\n  - b\nlog:\n- x\n- z\n", ""},
		{"another key", "current: a", "concurrent: a", "phase tasks log"},
		{"a field instead of a blank line", "a\n\n", "a\nz: 1\n", "phase tasks log"},
		{"a field more", "current: a\n", "current: a\nz: 1\n", "phase"},
		{"a field less", "phase: x\n", "", ""},
		{"a field more at the end", "- y\n", "- y\nz: 1\n", "phase current tasks log"},
		{"a field twice", "current: a", "phase: a", ""},
		{"a value on two lines", "\n\n", "\n b\n", ""},
		{"a comment", "\n\n", "\n#\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := strings.Replace(before, c.old, c.new, 1)
			checkReread(t, true, []byte("---\n"+before+"---\n"), []byte("\ufeff\n---\n"+after+"---\nx"))
			checkReread(t, false, []byte(strings.ReplaceAll(before, "\n", "\r\n")),
				[]byte(strings.ReplaceAll(after, "\n", "\r\n")))
			checkReread(t, false, []byte(before), []byte(after))
			first, err := ParseYAML("f", []byte(before))
			if err != nil || !scanned(first) {
				t.Fatalf("%q was not scanned: %v", before, err)
			}
			again, err := first.Reread([]byte(after))
			var shared []string
			for _, name := range []string{"phase", "current", "tasks", "log"} {
				if _, old := first.Field(name); err == nil && old != nil {
					if _, now := again.Field(name); now == old {
						shared = append(shared, name)
					}
				}
			}
			if got := strings.Join(shared, " "); got != c.shared {
				t.Errorf("shared = %q, want %q", got, c.shared)
			}
			checkSharedLists(t, before, after, shared)
		})
	}
}

// checkSharedLists requires that compact documents share the lists of unchanged fields, with their
// new offsets.
func checkSharedLists(t *testing.T, before, after string, shared []string) {
	t.Helper()
	first, err := ParseCompactYAML("f", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	again, err := first.Reread([]byte(after))
	if err != nil {
		return
	}
	for _, name := range []string{"tasks", "log"} {
		l := again.List(name)
		if got, want := l != nil && l == first.List(name), slices.Contains(shared, name); got != want {
			t.Errorf("the list %s is shared: %v, want %v", name, got, want)
		}
		for i := 0; l != nil && i < l.Len(); i++ {
			from, to := l.Span(i)
			if got := after[again.Base(l)+from : again.Base(l)+to]; got != l.Value(i) {
				t.Errorf("value %d of %s is %q, at its place is %q", i, name, l.Value(i), got)
			}
		}
	}
}

// A document that the library read can be reread by the scanner, and the other way round.
func TestRereadOfWhatWasNotPlain(t *testing.T) {
	d := checkReread(t, false, []byte("# c\nphase: x\n"), []byte("phase: x\n"))
	if !scanned(d) {
		t.Error("a board that became plain was not scanned")
	}
	if d = checkReread(t, false, []byte("phase: x\n"), []byte("# c\nphase: x\n")); scanned(d) {
		t.Error("a board with a comment was scanned")
	}
	checkReread(t, false, []byte(fields(64)), []byte(fields(65)))
	checkReread(t, true, []byte("---\nphase: x\n---\n"), []byte("phase: x\n"))
	checkReread(t, true, []byte("---\nphase: x\n---\n"), []byte("---\nphase: x\n"))
	checkReread(t, false, []byte("phase: x\n"), nil)
	checkReread(t, false, []byte("phase: x\n"), []byte("\n"))
}

// A chain of rereads stays exact.
func TestRereadOfMutants(t *testing.T) {
	var names []string
	for name := range plainCases {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range sample(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		before := plainCases[names[r.IntN(len(names))]]
		for range 3 {
			after := mutate(r, before)
			checkReread(t, false, []byte(before), []byte(after))
			checkReread(t, true, []byte("---\n"+before+"---\n"), []byte("---\n"+after+"---\n"))
			before = after
		}
	}
}

func FuzzReread(f *testing.F) {
	for _, source := range plainCases {
		f.Add(source, 1, 2, "x")
		f.Add(source, 9, 9, "\n")
		f.Add(source, 0, 0, "a: b\n")
		f.Add(source, 0, 9, "")
	}
	f.Fuzz(func(t *testing.T, source string, from, to int, text string) {
		if from < 0 || to < from || to > len(source) {
			return
		}
		after := source[:from] + text + source[to:]
		checkReread(t, false, []byte(source), []byte(after))
		checkReread(t, true, []byte("---\n"+source+"\n---\n"), []byte("---\n"+after+"\n---\n"))
	})
}
