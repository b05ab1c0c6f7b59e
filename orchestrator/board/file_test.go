package board

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
		t.Errorf("a change of the first line was not seen: phase %q", b.Phase)
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
	if err != nil || len(data) != maxBoard+1 {
		t.Fatalf("ReadFile(1 GiB) = %d bytes, %v, want one more than the limit", len(data), err)
	}
	var p *frontmatter.Problem
	if _, err := Parse(large, data); !errors.As(err, &p) || p.Text != "the board is larger than 2 MiB" || p.Fix == "" {
		t.Errorf("Parse of a board above the limit = %v, want a sentence and a hint", err)
	}
	if data, err := readTaskFile(large); err == nil || data != nil {
		t.Errorf("readTaskFile(1 GiB) = %d bytes, %v, want an error", len(data), err)
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
