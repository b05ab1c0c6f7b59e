package ledger

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kanban-run/orchestrator/rundir"
)

// TestLargeFilesAreNotReadWhole: an agent may make supervisor-log.md and state.md of any size.
func TestLargeFilesAreNotReadWhole(t *testing.T) {
	f := rundir.Of(filepath.Join(t.TempDir(), "kanban.yaml"))
	if err := f.Ensure(); err != nil {
		t.Fatal(err)
	}
	text := logHeading + "\n### [one]\n" + strings.Repeat("x", 100_000) + "### [no heading\n\n### [two]\n"
	if err := os.WriteFile(f.Log(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := countEntries(f.Log()); n != 2 || err != nil {
		t.Errorf("countEntries = %d, %v, want 2", n, err)
	}
	for _, path := range []string{f.Log(), f.State()} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 600<<20); err != nil { // without a line end: a line of 600 MB
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if n, err := countEntries(f.Log()); n != 0 || err != nil {
		t.Fatalf("countEntries = %d, %v", n, err)
	}
	l := &Ledger{dir: f, logbook: newLogbook(f, "kanban.yaml")}
	edit, err := l.findEdit()
	if err != nil || edit.kept == "" {
		t.Fatalf("findEdit = %+v, %v, want another's file", edit, err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("%d bytes were allocated, want less than 1 MiB", allocated)
	}
}
