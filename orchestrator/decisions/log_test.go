package decisions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEntriesWait: entries that cannot be written wait for a file that takes them, in their order; the failure
// is told once, and an entry without a section holds no other back.
func TestEntriesWait(t *testing.T) {
	l := &Log{path: filepath.Join(t.TempDir(), "DECISIONS.md")}
	l.pending = []Entry{{"## Elsewhere", "zero"}, {Notes, "one"}, {Notes, "two"}}
	if err := l.append(); !errors.Is(err, ErrScope) {
		t.Errorf("the first failure is %v", err)
	}
	if err := os.WriteFile(l.path, []byte("# Decisions\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.pending = append(l.pending, Entry{Escalations, "three"})
	if err := l.append(); err != nil {
		t.Errorf("a second failure is told: %v", err)
	}
	const people = "## Feature Definition of Done\n\n## Risks & Mitigations\n\n## Architectural Decisions\n"
	if err := os.WriteFile(l.path, []byte(people), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.append(); err != nil || len(l.pending) > 0 {
		t.Errorf("%v, and %v still wait", err, l.pending)
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	one, two := strings.Index(string(text), "one"), strings.Index(string(text), "two")
	if one < 0 || two < one || !strings.Contains(string(text), "three") || strings.Contains(string(text), "zero") {
		t.Errorf("the file is\n%s", text)
	}
}
