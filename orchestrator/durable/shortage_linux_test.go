package durable

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFolderWithoutAFileToOpen: the error names the shortage, not a missing folder above.
func TestFolderWithoutAFileToOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	var was unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: was.Max}, nil); err != nil {
		t.Fatal(err)
	}
	short := MkdirAll(dir, 0o700)
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &was, nil); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(short, syscall.EMFILE) || !IsMachineFault(short) {
		t.Errorf("MkdirAll without a file to open = %v, want %v", short, syscall.EMFILE)
	}
	if err := MkdirAll(dir, 0o700); err != nil {
		t.Errorf("MkdirAll = %v once there are files again", err)
	}
}
