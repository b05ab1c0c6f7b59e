package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Every file is closed, also when the journal is refused: a run of many boards opens many journals.
func TestNoFileStaysOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	open := func() (*Journal, error) { return Open(path, ticker, ignore) }
	before := openFiles(t)
	for range 3 {
		j, err := open()
		if err != nil {
			t.Fatal(err)
		}
		wantLocked(t, path)
		if _, err := Read(path, ignore); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Remove(path), os.Symlink("elsewhere", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); err == nil {
		t.Fatal("Open of a link = nil, want an error")
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
