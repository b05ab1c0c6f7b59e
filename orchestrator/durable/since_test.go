package durable

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHeldSince: the file of a lock says when the lock was taken last; any other file says nothing.
func TestHeldSince(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if at := HeldSince(path); !at.IsZero() {
		t.Errorf("a lock that is not there was taken at %v", at)
	}
	before := time.Now()
	l, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if at := HeldSince(path); at.Before(before.Truncate(0)) || at.After(time.Now()) {
		t.Errorf("taken at %v, want after %v", at, before)
	}
	_, err = Acquire(path)
	if want := fmt.Sprintf("another process has it: pid %d, since ", os.Getpid()); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("another lock: %v, want %s…", err, want)
	}
	elsewhere := &HeldError{Path: path, Info: "pid 7, since 2026-01-02T03:04:05Z, boot of another machine"}
	if want := "a process of another machine has it: pid 7, since 2026-01-02 "; !strings.HasPrefix(elsewhere.Error(), want) {
		t.Errorf("%v, want %s…", elsewhere, want)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "pid 1", "pid 1, since yesterday, boot x"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if at := HeldSince(path); !at.IsZero() {
			t.Errorf("%q: taken at %v", text, at)
		}
	}
}
