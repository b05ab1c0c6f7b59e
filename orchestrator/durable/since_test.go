package durable

import (
	"os"
	"path/filepath"
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
