package board

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A FIFO without a writer would block an open for ever; a device may never end.
func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	dir := tree(t, "k.md")
	fifo := filepath.Join(dir, "fifo.md")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, "/dev/zero"} {
		if _, err := ReadFile(path); !errors.Is(err, errSpecial) {
			t.Errorf("ReadFile(%s) = %v, want %v", path, err, errSpecial)
		}
		if _, err := NewReader(path, path).Read(); !errors.Is(err, errSpecial) {
			t.Errorf("Read(%s) = %v, want %v", path, err, errSpecial)
		}
	}
	p := openPlace(t, dir, filepath.Join(dir, "k.md"))
	if _, err := p.Resolve("fifo.md"); !errors.Is(err, errSpecial) {
		t.Errorf("Resolve(fifo) = %v, want %v", err, errSpecial)
	}
	r, err := p.openWorkdir()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, _, err := readHead(r, Ref{Path: "fifo.md"}); !errors.Is(err, errSpecial) {
		t.Errorf("head(fifo), as if it had come between, = %v, want %v", err, errSpecial)
	}
	if _, err := p.ReadTask("fifo.md"); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("ReadTask(fifo) = %v, want a refusal", err)
	}
}
