package board

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/frontmatter"
)

func TestReaderParsesOnlyWhatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(path, path)
	read := func() *Board {
		t.Helper()
		b, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	large := "phase: x\ntasks: []\nlog: " + strings.Repeat("x", 200_000)
	write(large)
	first := read()
	write(large)
	if read() != first {
		t.Error("equal bytes were parsed again")
	}
	write(strings.Replace(large, "phase: x", "phase: y", 1))
	if b := read(); b == first || b.Phase != "y" {
		t.Errorf("a change in the first piece was not seen: phase %q", b.Phase)
	}
	write(strings.Replace(large, "phase: x", "phase: y", 1)[:len(large)-1] + "z")
	changed := read()
	if !strings.HasSuffix(string(changed.Source), "xz") {
		t.Error("a change of the last byte was not seen")
	}
	write("phase: [")
	if _, err := r.Read(); err == nil {
		t.Error("Read of a broken board = nil, want an error")
	}
	write(string(changed.Source))
	if read() != changed {
		t.Error("the board that was read last is forgotten after an error")
	}
	r.Forget()
	if b := read(); b == changed || b.SHA != changed.SHA {
		t.Error("what was forgotten is not parsed anew")
	}
}

func TestReadFileRefuses(t *testing.T) {
	dir := tree(t, "folder/")
	large := filepath.Join(dir, "large.md")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<30); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		is   error
	}{{"folder", errFolder}, {"missing.md", fs.ErrNotExist}} {
		_, err := ReadFile(filepath.Join(dir, c.name))
		var f *FileError
		if !errors.As(err, &f) || !errors.Is(err, c.is) || f.Hint() == "" {
			t.Errorf("ReadFile(%s) = %v, want a *FileError with a hint for %v", c.name, err, c.is)
		}
		if _, err := NewReader(filepath.Join(dir, c.name), "k").Read(); !errors.Is(err, c.is) {
			t.Errorf("Read(%s) = %v, want %v", c.name, err, c.is)
		}
	}
	data, err := ReadFile(large)
	if err != nil || len(data) != frontmatter.MaxSource+1 {
		t.Fatalf("ReadFile(1 GiB) = %d bytes, %v, want one more than the limit", len(data), err)
	}
	if _, err := Parse(large, data); err == nil {
		t.Error("Parse of a board above the limit = nil, want an error")
	}
}

func TestSave(t *testing.T) {
	dir := tree(t, "k.md", "link.md -> k.md")
	path := filepath.Join(dir, "k.md")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Save(filepath.Join(dir, "link.md"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path)
	if err != nil || string(got) != "new" {
		t.Errorf("after Save the board is %q, %v, want new", got, err)
	}
	info, err := os.Lstat(filepath.Join(dir, "link.md"))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("Save replaced the link: %v, %v", info, err)
	}
	if err := Save(filepath.Join(dir, "none", "k.md"), nil); err == nil {
		t.Error("Save into a missing folder = nil, want an error")
	}
}

// checkReader compares a Reader with Parse over the versions of a file.
func checkReader(t *testing.T, versions ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.yaml")
	r := NewReader(path, "k.yaml")
	for _, text := range versions {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		want, wantErr := Parse("k.yaml", []byte(text))
		b, err := r.Read()
		if (err != nil) != (wantErr != nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("Read of %q = %v, want %v", text, err, wantErr)
		}
		if err == nil && (!sameBoard(b, want) || b.SHA != want.SHA) {
			t.Fatalf("Read of %q = %q, %+v, want %+v", text, b.Source, b.Current, want.Current)
		}
	}
}

func FuzzReader(f *testing.F) {
	board := "current: a\nlog: " + strings.Repeat("x", pieceSize-20) + "\ntasks:\n- a\n- b\n"
	for _, at := range []int{0, 9, len(board) - 6, pieceSize - 1, pieceSize, pieceSize + 1} {
		f.Add(board, at, at+1, "c", 0)
		f.Add(board, at, at, "c", pieceSize)
		f.Add(board, at, at+1, "", 3*pieceSize)
	}
	f.Add("", 0, 0, "", 0)
	f.Fuzz(func(t *testing.T, board string, from, to int, text string, more int) {
		if from < 0 || to < from || to > len(board) || more < 0 || more > 4*pieceSize {
			return
		}
		board += strings.Repeat("\n", more)
		after := board[:from] + text + board[to:]
		checkReader(t, board, after, board, board, after)
	})
}

// The identity of the slice shows whether the list of paths has changed.
func TestReaderKeepsThePaths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.yaml")
	r := NewReader(path, path)
	read := func(text string) *string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		if want := mustParse(t, path, text).TaskPaths(); !slices.Equal(b.TaskPaths(), want) {
			t.Fatalf("TaskPaths of %q = %q, want %q", text, b.TaskPaths(), want)
		}
		return &b.TaskPaths()[0]
	}
	const board = "phase: x\ncurrent: a.md\ntasks:\n- a.md\n- b.md [done]\nlog: y\n"
	first := read(board)
	for _, c := range []struct {
		name, old, new string
		same           bool
	}{
		{"nothing", "", "", true}, {"current", "current: a.md", "current: b.md", true},
		{"a longer current", "current: b.md", "current: tasks/b.md", true},
		{"another field", "log: y", "log: [z]", true}, {"a task", "- b.md [done]", "- b.md", false},
		{"back", "- b.md\n", "- b.md [done]\n", false},
		{"a line above", "phase", "\nphase", false}, {"a comment", "log: [z]", "# c", false},
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		again := read(strings.Replace(string(text), c.old, c.new, 1))
		if (again == first) != c.same {
			t.Errorf("%s changes: the paths are the same slice: %v, want %v", c.name, !c.same, c.same)
		}
		first = again
	}
}

// A file that grows or shrinks during the read is read to its end.
func TestReadRest(t *testing.T) {
	for _, c := range []struct {
		size  int64
		known []string
		want  string
	}{{10, nil, "0123456789"}, {4, nil, "0123456789"}, {0, nil, "0123456789"}, {50, nil, "0123456789"},
		{12, []string{"a", "b"}, "ab0123456789"}, {3, []string{"abcd"}, "abcd0123456789"},
		{1 << 40, nil, "0123456789"}} {
		var known [][]byte
		for _, k := range c.known {
			known = append(known, []byte(k))
		}
		if got, err := readRest(strings.NewReader("0123456789"), c.size, 100, known...); err != nil ||
			string(got) != c.want {
			t.Errorf("readRest of a file of %d bytes = %q, %v, want %q", c.size, got, err, c.want)
		}
		if got, err := readRest(strings.NewReader("0123456789"), c.size, 4); err != nil || string(got) != "0123" {
			t.Errorf("readRest of 4 bytes = %q, %v, want 0123", got, err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for _, tasks := range []int{10, 1000, 100_000} {
		path := filepath.Join(b.TempDir(), "k.yaml")
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		one := largeBoard(tasks)
		other := strings.Replace(one, "current: tasks/0", "current: tasks/1", 1)
		r := NewReader(path, "k.yaml")
		read := func() {
			if _, err := r.Read(); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("same/%d", tasks), func(b *testing.B) {
			write(one)
			b.ReportAllocs()
			for b.Loop() {
				read()
			}
		})
		b.Run(fmt.Sprintf("changed/%d", tasks), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				one, other = other, one
				write(one)
				b.StartTimer()
				read()
			}
		})
	}
}
