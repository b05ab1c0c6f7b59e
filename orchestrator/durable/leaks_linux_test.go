package durable

import (
	"os"
	"path/filepath"
	"testing"
)

// Held runs again and again: every file is closed, a refused one too.
func TestNoFileStaysOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	put(t, path+".link", "precious")
	if err := os.Symlink(path+".link", path+".linked"); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	for range 3 {
		l, err := Acquire(path)
		if err != nil {
			t.Fatal(err)
		}
		wantHeld(t, path, true)
		for _, refused := range []string{path, path + ".linked"} {
			if _, err := Acquire(refused); err == nil {
				t.Fatalf("Acquire(%s) = nil, want an error", refused)
			}
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
		wantHeld(t, path, false)
		if err := WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, want %d", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(names)
}
