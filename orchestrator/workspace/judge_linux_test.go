package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
)

// TestJudgeWithoutAFileToOpen: a board that the runner cannot open for want of files was not left
// unreadable by the Manager, whose work would be undone, nor is a task missing then.
func TestJudgeWithoutAFileToOpen(t *testing.T) {
	next := "b.md"
	for name, tt := range map[string]*string{"the board": nil, "the next task": &next} {
		dir := t.TempDir()
		path := filepath.Join(dir, "k.yaml")
		for _, file := range []string{"k.yaml", "b.md"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("current: b.md\ntasks: [a.md, b.md]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		place, err := board.OpenPlace(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := board.Parse(path, []byte("current: b.md\ntasks: [a.md, b.md]\n"))
		if err != nil {
			t.Fatal(err)
		}
		w := New(path, path, place, b, redact.New(nil))
		given := []string{"a.md", "b.md"}
		step := &flow.Step{Number: 1, Call: event.ManagerCall, Before: &event.Baseline{BoardSHA: b.SHA, Current: "b.md"}}
		var was unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &was); err != nil {
			t.Fatal(err)
		}
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: was.Max}, nil); err != nil {
			t.Fatal(err)
		}
		failure, _, err := w.Judge(step, Decision{Given: given, Next: tt, Tasks: given}, func(string) error { return nil })
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &was, nil); err != nil {
			t.Fatal(err)
		}
		if failure != nil || !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s: the reply's failure is %v, the error %v, want only %v", name, failure, err, syscall.EMFILE)
		}
	}
}
