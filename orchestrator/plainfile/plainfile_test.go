package plainfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kanban-run/orchestrator/plainfile"
)

// TestNothingElseIsOpened: a FIFO without a writer, a device and a folder are
// refused, and none is waited for.
func TestNothingElseIsOpened(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Symlink(fifo, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, link, os.DevNull, dir} {
		if _, err := plainfile.Read(path, 10); !errors.Is(err, plainfile.ErrKind) {
			t.Errorf("Read(%s) = %v, want %v", path, err, plainfile.ErrKind)
		}
	}
	for _, path := range []string{fifo, link, os.DevNull} {
		if f, err := plainfile.OpenFolder(path); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("OpenFolder(%s) = %v, %v", path, f, err)
		}
		if root, err := plainfile.OpenRoot(path); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("OpenRoot(%s) = %v, %v", path, root, err)
		}
	}
	if _, err := plainfile.Read(filepath.Join(dir, "missing"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of a missing file = %v", err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, []byte(strings.Repeat("x", 1024)), 0o600), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	if data, err := plainfile.Read(link, 1024); err != nil || len(data) != 1024 {
		t.Errorf("Read = %d bytes, %v, want all 1024", len(data), err)
	}
	if _, err := plainfile.Read(path, 1023); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("Read of a file that is too large = %v", err)
	}
	f, err := plainfile.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if names, err := f.Readdirnames(-1); err != nil || len(names) != 2 || f.Close() != nil {
		t.Errorf("Readdirnames = %q, %v", names, err)
	}
	root, err := plainfile.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := root.ReadFile("file"); err != nil || len(data) != 1024 || root.Close() != nil {
		t.Errorf("ReadFile = %d bytes, %v", len(data), err)
	}
}
