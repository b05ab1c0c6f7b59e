package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/rundir"
)

// TestLookAll: the settings of a work directory are loaded once for all of its boards, and each board
// shows the last of its own archives, also in a folder whose name is a pattern.
func TestLookAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a-c]")
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a.md", "---\nrole: Implementor\n---\n")
	loads := 0
	looker := Looker{StartDir: dir, Lookup: func(string) (func(string) error, error) {
		loads++
		return func(string) error { return nil }, nil
	}}
	var readers []*Reader
	var paths []string
	for _, name := range []string{"1.yaml", "2.yaml", "3.yaml"} {
		paths = append(paths, write(name, "current: a.md\ntasks: [a.md]\n"))
		readers = append(readers, looker.Reader(paths[len(paths)-1]))
	}
	runs := filepath.Dir(rundir.Of(filepath.Join(dir, "1.yaml")).Path)
	for _, name := range []string{"1.yaml-20260101T000000Z", "1.yaml-20260102T000000Z", "2.yaml-new-20260103T000000Z", "3.yaml-notes"} {
		write(filepath.Join(strings.TrimPrefix(runs, dir), name+".tar.gz"), "")
	}
	for name, lookAll := range map[string]func(func(Board, error)){
		"readers": func(visit func(Board, error)) { LookAll(readers, visit) },
		"paths":   func(visit func(Board, error)) { looker.LookAll(paths, visit) },
	} {
		loads = 0
		var archives []string
		lookAll(func(b Board, err error) {
			archives = append(archives, strings.TrimPrefix(b.Archive, runs+string(filepath.Separator)))
			if b.Next == "" {
				t.Errorf("%s: %s: what a run would do next is not known", name, b.Board.Board)
			}
		})
		if got, want := strings.Join(archives, "|"), "1.yaml-20260102T000000Z.tar.gz||"; got != want {
			t.Errorf("%s: archives = %q, want %q", name, got, want)
		}
		if loads != 1 {
			t.Errorf("%s: the settings were loaded %d times", name, loads)
		}
	}
}
