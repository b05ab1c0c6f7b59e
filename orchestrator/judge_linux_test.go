package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
)

// TestJudgeWithoutAFileToOpen: a board that the runner cannot open for want of files was not left unreadable by the Manager, whose work
// would be undone, nor is a task missing then.
func TestJudgeWithoutAFileToOpen(t *testing.T) {
	next := "b.md"
	for name, reply := range map[string]*agent.Reply{
		"the board":     {Status: "ok", SameTasks: true},
		"the next task": {Status: "ok", SameTasks: true, NextTask: &next},
	} {
		r, _, _ := pending(t, nil)
		r.path, r.fresh, r.setup = filepath.Join(r.files.dir, "k.yaml"), nil, &Setup{Redactor: redact.New(nil)}
		r.reader = board.NewReader(r.path, "k.yaml")
		r.given = given{1, flow.ManagerCall, newInput(nil, newList([]string{"a.md", "b.md"}))}
		for _, file := range []string{"k.yaml", "b.md"} {
			if err := os.WriteFile(filepath.Join(r.files.dir, file), []byte("current: b.md\ntasks: [a.md, b.md]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var was unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &was); err != nil {
			t.Fatal(err)
		}
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: was.Max}, nil); err != nil {
			t.Fatal(err)
		}
		_, failure, _, err := r.judge(flow.StartAgent{Call: flow.ManagerCall, Step: 1}, reply)
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &was, nil); err != nil {
			t.Fatal(err)
		}
		if failure != nil || !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s: the reply's failure is %v, the error %v, want only %v", name, failure, err, syscall.EMFILE)
		}
	}
}
