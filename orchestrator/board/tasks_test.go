package board

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"kanban-run/orchestrator/frontmatter"
)

// withNodes reads a board without plain lists: the oracle of the plain form.
func withNodes(file string, source []byte) (*Board, error) {
	read := frontmatter.Parse
	if isYAML(file) {
		read = frontmatter.ParseYAML
	}
	doc, err := read(file, source)
	if err != nil {
		return nil, err
	}
	if doc.Root == nil {
		return nil, noBoard(file)
	}
	return interpret(doc, nil)
}

// checkPlain compares a board and its edit with the same by nodes.
func checkPlain(t *testing.T, file string, source []byte, e Edit) {
	t.Helper()
	got, err := Parse(file, source)
	want, wantErr := withNodes(file, source)
	if !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("Parse(%q) = %v, with nodes %v", source, err, wantErr)
	}
	if err != nil {
		return
	}
	if !reflect.DeepEqual(got.Entries(), want.Entries()) || !reflect.DeepEqual(got.TaskPaths(), want.TaskPaths()) ||
		!reflect.DeepEqual(problems(got.Warnings), problems(want.Warnings)) {
		t.Fatalf("Parse(%q) = %+v with %q, with nodes %+v with %q", source, got.Entries(), problems(got.Warnings),
			want.Entries(), problems(want.Warnings))
	}
	out, err := got.Splice(e)
	wantOut, wantErr := want.Splice(e)
	if string(out) != string(wantOut) || !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("Splice(%+v) of %q = %q, %v, with nodes %q, %v", e, source, out, err, wantOut, wantErr)
	}
}

func TestPlainListIsReadAsNodesAre(t *testing.T) {
	for name, source := range map[string]string{
		"plain": "current: a\ntasks:\n- a\n- b [done]\n- c\n", "indented": "tasks:\n    - a\n    - b\nlog: x\n",
		"blank lines": "\ntasks:\n\n- a\n\n\n- b\n- c\n\nz: 1\n",
		"CRLF":        "tasks:\r\n  - a\r\n\r\n  - b [x y]\r\n", "no newline": "tasks:\n- a\n- b",
		"twice": "tasks:\n- b\n- a\n- b [done]\n\n- a\n", "wide": "tasks:\n- ä\n- b\n- \ufffd\n",
		"another list": "log:\n- x\n- y\ntasks:\n- a\n- b\n", "numbers": "tasks:\n- a\n- 1\n",
		"a date":                          "tasks:\n- a\n- 2026-01-01\n- b\n",
		"no tasks, and another list last": "current: a\nlog:\n- x\n\n- y\n", "the last field": "tasks:\n- a\n- b\n\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []Edit{{}, {Null: true}, setCurrent("z"), setCurrent("it's: #"), setTasks("a", "b"),
				setTasks("b", "a", "c d"), setTasks("b [done]", "x", "a"), setTasks(), setTasks("c")} {
				checkPlain(t, "k.yaml", []byte(source), e)
				checkPlain(t, "k.md", []byte("\ufeff\n---\n"+source+"\n---\nbody\n"), e)
			}
		})
	}
}

// verify sees foreign changes in plain lists too.
func TestVerifyOfPlainLists(t *testing.T) {
	const source = "current: a\nlog:\n- x\n- y\ntasks:\n- a\n- b [todo]\n- c\n"
	b := mustParse(t, "k.yaml", source)
	if b.tasks.plain == nil || b.doc.List("log") == nil {
		t.Fatal("the lists are not plain")
	}
	for _, c := range []struct {
		name, old, new string
		e              Edit
		want           string
	}{
		{"nothing", "", "", Edit{}, ""},
		{"another list", "- x", "- z", Edit{}, "other fields"},
		{"another list is shorter", "- x\n", "", Edit{}, "other fields"},
		{"another list is none", "\n- x\n- y", " x", Edit{}, "other fields"},
		{"another list with a comment", "- x", "- x # c", Edit{}, ""},
		{"a task", "- b", "- d", Edit{}, "tasks would not"},
		{"a state", "[todo]", "[done]", Edit{}, "tasks would not"},
		{"a state of a list that is set", "b [todo]\n- c", "b [done]\n- d", setTasks("a", "b", "d"),
			"an entry that stays"},
		{"quotes of a list that is set", "- a\n- b [todo]\n- c", "- a\n- 'b [todo]'\n- d", setTasks("a", "b", "d"),
			"an entry that stays"},
		{"a list that is set", "- c", "- d", setTasks("a", "b", "d"), ""},
	} {
		wanted, err := c.e.parseEntries()
		if err != nil {
			t.Fatal(err)
		}
		err = b.verify([]byte(strings.Replace(source, c.old, c.new, 1)), c.e, wanted)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("verify, where %s changes, = %v, want %q", c.name, err, c.want)
		}
	}
}

func TestEntries(t *testing.T) {
	b := mustParse(t, "k.md", "\n---\ntasks:\n- a\n\n- b [done]\n---\n")
	want := []Entry{{Path: "a", Line: 4}, {Path: "b", State: "done", Line: 6}}
	if got := b.Entries(); !reflect.DeepEqual(got, want) || b.Len() != 2 || b.Entry(1) != want[1] {
		t.Errorf("Entries() = %+v, Len() = %d, Entry(1) = %+v, want %+v", got, b.Len(), b.Entry(1), want)
	}
	if b := new(Board); b.Len() != 0 || b.TaskPaths() == nil || len(b.Entries()) != 0 {
		t.Error("a board that was never read has tasks")
	}
}

// A board of 100,000 tasks takes 3 MB besides its bytes, and 6 to read.
func TestLargeBoardsTakeLittle(t *testing.T) {
	source := []byte(largeBoard(100_000))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b := mustParseBytes(t, source)
	if len(b.TaskPaths()) != 100_000 {
		t.Fatalf("there are %d tasks", b.Len())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 6<<20 {
		t.Errorf("Parse took %d bytes, want at most 6 MiB", got)
	}
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 3<<20 {
		t.Errorf("the board takes %d bytes, want at most 3 MiB", got)
	}
	runtime.KeepAlive(b)
	runtime.KeepAlive(source)
}

func mustParseBytes(t *testing.T, source []byte) *Board {
	t.Helper()
	b, err := Parse("k.yaml", source)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A board must not keep versions alive that it only shares fields with, except the one that holds
// the list.
func TestEarlierVersionsAreForgotten(t *testing.T) {
	b := mustParse(t, "k.yaml", largeBoard(20_000))
	gone := make(chan int, 10)
	for i := range 10 {
		source := []byte(strings.Replace(largeBoard(20_000), "current: tasks/000000",
			fmt.Sprintf("current: tasks/%06d", i+1), 1))
		next, err := b.reparse(source)
		if err != nil {
			t.Fatal(err)
		}
		if &next.TaskPaths()[0] != &b.TaskPaths()[0] {
			t.Fatal("the list was read again")
		}
		runtime.AddCleanup(&source[0], func(i int) { gone <- i }, i)
		b = next
	}
	runtime.GC()
	for range 9 {
		<-gone // blocks for ever when a version is kept alive
	}
	runtime.KeepAlive(b)
}
